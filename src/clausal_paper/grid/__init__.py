"""The paper's grid search: every setting of a grid trained once and measured on valid, with a journal to go on from."""

from clausal_paper.grid.axes import CLAUSE_AXES, FACT_AXES, Axes, axes_of, points
from clausal_paper.grid.journal import Journal, best
from clausal_paper.grid.presets import chosen_preset
from clausal_paper.grid.searching import search

__all__ = ["CLAUSE_AXES", "FACT_AXES", "Axes", "Journal", "axes_of", "best", "chosen_preset", "points", "search"]
