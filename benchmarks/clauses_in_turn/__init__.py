"""Trainings without clauses and with many of them, an epoch of each in turn, in one process."""
