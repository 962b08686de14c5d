"""The long run: ``python -m states --minutes 10``; counts of steps go to ``results/tests/states.json``."""

from __future__ import annotations

import argparse
import sys
import time

from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from counts import Counts, Turn
from states.machine import SECONDS, STEPS, Runs

WHAT = "steps of the state machine of run directories by kind, summed over all runs of `make states`"
_WAYS = 10  # between two notes of the counts


def go(number: int, ways: int, steps: int) -> None:
    """Go some ways through the states, drawn by a number."""
    options = settings(
        max_examples=ways,
        stateful_step_count=steps,
        deadline=None,
        database=None,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
        print_blob=False,
    )
    run_state_machine_as_test(seed(number)(Runs), settings=options)


def main() -> None:
    """Go for some minutes, and end with 1 where an invariant did not hold."""
    parser = argparse.ArgumentParser(prog="python -m states", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, help="by which ways are drawn; other ones each time if not given")
    given = parser.parse_args()
    number = given.seed if given.seed is not None else int(time.time())
    counts, end = Counts("states", WHAT), time.monotonic() + 60 * given.minutes
    print(f"{given.minutes:g} minutes, seed {number}", flush=True)
    while time.monotonic() < end:
        STEPS.clear()
        SECONDS.clear()
        failures = []
        try:
            go(number, _WAYS, 20)
        except Exception as error:
            failures = [f"{type(error).__name__}: {error}", *getattr(error, "__notes__", [])]
        for name, times in sorted(STEPS.items()):
            counts.add(name, Turn(times, SECONDS[name]))
        if failures:
            counts.add("way", Turn(0, 0.0, failures[:1]))
            sys.exit("\n".join(failures))
        print(", ".join(f"{times} {name}" for name, times in sorted(STEPS.items())), flush=True)
        number += 1


if __name__ == "__main__":
    main()
