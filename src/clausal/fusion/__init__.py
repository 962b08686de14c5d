"""Votes of rules fused with a model's scores, by weights that are fitted on valid facts."""
