"""A comparison: the cases that are drawn, and a function that fails where two ways do not agree on one."""

from __future__ import annotations

import logging
import time
import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.strategies import SearchStrategy

from counts import Turn

HOMES = {
    "closure": "closures", "closure of larger graphs": "closures", "closure by Spark": "closures",
    "training": "trainings", "ranking": "rankings", "certificates": "certificates", "entities": "certificates",
}  # fmt: skip
"""The comparisons by name, and the modules that have them."""


@dataclass(frozen=True)
class Comparison:
    """``cases`` draws what ``compare`` compares; ``slice`` is how many the suite takes, ``around`` what they need."""

    cases: SearchStrategy[Any]
    compare: Callable[[Any], None]
    slice: int
    around: Callable[[], AbstractContextManager[Any]] = nullcontext
    missing: Callable[[], str | None] = lambda: None
    """Says what is not installed, if anything is."""


def comparison(name: str) -> Comparison:
    """Return a comparison by its name."""
    return import_module(f"differential.{HOMES[name]}").COMPARISONS[name]


def compare(one: Comparison, number: int, *, most: int | None = None, seconds: float = 1e9) -> Turn:
    """Compare many cases, drawn by a number; a failure is the smallest case that shows it."""
    turn, begun, last = Turn(), time.monotonic(), None

    def check(case: Any) -> None:
        nonlocal last
        last = case
        if time.monotonic() - begun < seconds:
            one.compare(case)
            turn.cases += 1

    drawn = settings(
        max_examples=most or 50,
        deadline=None,
        database=None,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
        report_multiple_bugs=False,
    )(given(one.cases)(check))
    with one.around(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        logging.disable(logging.WARNING)  # other libraries say much
        begun = time.monotonic()  # what is around may take long to start
        while not turn.failures and time.monotonic() - begun < seconds:
            try:
                seed(number)(drawn)()
            except Exception as error:
                turn.failures.append(f"{type(error).__name__}: {str(error)[:800]}\n  of {str(last)[:2000]}")
            if most is not None:
                break
            number += 1
        logging.disable(logging.NOTSET)
    turn.seconds = time.monotonic() - begun
    return turn
