"""Settings for a user's own graph: a rule that computes them at once, and a search for better ones on valid facts."""

from clausal.search.best import best_settings
from clausal.search.result import SearchResult, Trial
from clausal.search.search import load_search, resume_search, search
from clausal.search.space import Choice, Range, make_space

__all__ = [
    "Choice",
    "Range",
    "SearchResult",
    "Trial",
    "best_settings",
    "load_search",
    "make_space",
    "resume_search",
    "search",
]
