"""Trainings with hard clauses on the benchmarks: what they reach, and that nothing breaks the clauses afterwards."""
