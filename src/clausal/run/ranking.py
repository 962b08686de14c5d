"""Rankings of a run by name: its model's, with entailed facts first, by rules alone, and fused."""

from __future__ import annotations

from typing import get_args

from clausal.choices import RankingName
from clausal.errors import InputError, did_you_mean


def find_ranking(ranking: str | None, entailed: str | None) -> RankingName:
    """Return the ranking that is asked for; ``entailed="first"`` is another way to ask for ``"entailed"``."""
    if entailed not in (None, "first"):
        raise InputError(f"entailed facts can come 'first', or be ranked as all others (None); got {entailed!r}")
    if ranking is None:
        return "model" if entailed is None else "entailed"
    names = get_args(RankingName)
    if ranking not in names:
        raise InputError(f"unknown ranking '{ranking}'{did_you_mean(ranking, names)}; choose one of {', '.join(names)}")
    if entailed is not None and ranking != "entailed":
        raise InputError(f"entailed='first' is the ranking 'entailed'; leave it out for the ranking '{ranking}'")
    found: RankingName = ranking  # type: ignore[assignment]
    return found
