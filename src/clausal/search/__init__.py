"""Settings for a user's own graph: a rule that computes them, a race for better ones before a training, and a search.

``make_trials`` and ``Journal`` are for searches of other trainings, as the grids of ``clausal_paper`` are.
"""

from clausal.search.best import best_settings
from clausal.search.journal import FAILED, FINISHED, PRUNED, Journal, Trial
from clausal.search.racing.best_run import resume_best, train_best
from clausal.search.racing.race import Race, race
from clausal.search.result import SearchResult
from clausal.search.samplers import grid_points
from clausal.search.searching import load_search, resume_search, search
from clausal.search.space import Choice, Range, make_space
from clausal.search.trials import make_trials

__all__ = [
    "FAILED",
    "FINISHED",
    "PRUNED",
    "Choice",
    "Journal",
    "Race",
    "Range",
    "SearchResult",
    "Trial",
    "best_settings",
    "grid_points",
    "load_search",
    "make_space",
    "make_trials",
    "race",
    "resume_best",
    "resume_search",
    "search",
    "train_best",
]
