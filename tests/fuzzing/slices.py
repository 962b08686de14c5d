"""The fixed slice of a target in the suite: its corpus and the same drawn cases every time."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings

from fuzzing.cases import corpus
from fuzzing.limits import check
from fuzzing.targets import target


def check_slice(name: str) -> None:
    """Check the corpus and the slice of a target."""
    chosen = target(name)
    chosen.prepare()
    for case_name, case in corpus(name):
        try:
            check(chosen, case)
        except Exception as error:
            pytest.fail(f"corpus/{name}/{case_name}.json: {type(error).__name__}: {error}")

    @seed(0)
    @settings(
        max_examples=chosen.slice,
        deadline=None,
        database=None,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )
    @given(chosen.cases)
    def drawn(case):
        check(chosen, case)

    drawn()
