"""What runs the rounds of a closure: a place for facts and rules that answers one query per round."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from clausal.graph import Facts
from clausal.logic.closure.plan import RuleGroup


class Engine(Protocol):
    """Holds the tables ``known``, ``delta`` and ``rules_N`` of the queries."""

    def load(self, facts: Facts, groups: Sequence[RuleGroup]) -> None:
        """Make the facts known, and a table of each group's rules."""

    def derive(self, query: str) -> Facts:
        """Return the facts that a round's query finds, which become the ``delta`` and are known from now on."""

    def close(self) -> None:
        """Let go of everything."""
