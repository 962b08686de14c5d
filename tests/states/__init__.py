"""The states of run directories: whatever is done to runs in whatever order, no bit of any is lost or changed.

``make test`` goes a few ways, ``make states MINUTES=10`` new ones.
"""
