"""A served run that knows more entities for one request, by their texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clausal.run import Run
from clausal.serve.names import ServedNames
from clausal.serve.runs import ServedRun
from clausal.serve.statuses import PREDICTED, Standing, Statuses


class _StatusesWithUnseen(Statuses):
    """The statuses of facts in a run that knows more entities: the graph has no fact about these, and none follows."""

    def __init__(self, before: Statuses, run: Run) -> None:
        self.run = run
        self.all, self.certain = before.all, before.certain
        self._before = before

    def of_facts(self, facts: NDArray[np.integer[Any]], known: Sequence[bool]) -> list[Standing]:
        seen: list[bool] = np.all(facts[:, [0, 2]] < len(self._before.run.graph.entities), axis=1).tolist()
        has = [one for one, here in zip(known, seen, strict=True) if here]
        found = iter(self._before.of_facts(facts[seen], has))
        return [next(found) if here else PREDICTED for here in seen]


def describing(served: ServedRun, descriptions: Mapping[str, str]) -> ServedRun:
    """Return a served run with entities that it has never seen; itself if there are none."""
    if not descriptions:
        return served
    run = served.run.describe(dict(descriptions))
    more = copy(served)
    for name in ("known", "splits", "table"):  # what was counted for the entities before
        more.__dict__.pop(name, None)
    more._run, more._statuses = run, _StatusesWithUnseen(served.statuses, run)
    more._names = ServedNames(run.graph)
    return more
