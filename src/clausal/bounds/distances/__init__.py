"""Scorers that are minus a distance: TransE and RotatE, by the triangle inequality and in exact forms."""
