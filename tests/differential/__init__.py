"""Random programs through everything that computes the same: engines, forms, other libraries, searches, brute force.

``make test`` compares a fixed slice of them, ``make differential MINUTES=10`` new ones.
"""
