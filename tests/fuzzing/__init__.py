"""A fuzzer: inputs that nobody would write, drawn by their structure. Only a ``ClausalError`` may come of them.

``make test`` runs a fixed slice of cases and all of ``corpus``, ``make fuzz MINUTES=10`` new ones in bounded processes.
"""
