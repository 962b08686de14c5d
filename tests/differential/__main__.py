"""The long run: ``python -m differential --minutes 10``; counts go to ``results/tests/differential.json``."""

from __future__ import annotations

import argparse
import sys
import time

from counts import Counts
from differential.comparisons import HOMES, compare, comparison

WHAT = "random programs by comparison, summed over all runs of `make differential`: both ways must agree"
_TURN = 60.0  # seconds of a comparison before the next one has its turn


def main() -> None:
    """Compare for some minutes, and end with 1 where two ways did not agree."""
    parser = argparse.ArgumentParser(prog="python -m differential", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10, help="of comparing, over all comparisons")
    parser.add_argument("--only", action="append", choices=list(HOMES), help="only this comparison; can be repeated")
    parser.add_argument("--seed", type=int, help="by which cases are drawn; another one each time if not given")
    given = parser.parse_args()
    seed = given.seed if given.seed is not None else int(time.time())
    names = []
    for name in given.only or HOMES:
        missing = comparison(name).missing()
        print(f"{name}: left out, as {missing}") if missing else names.append(name)
    left, counts, failures = 60 * given.minutes, Counts("differential", WHAT), 0
    print(f"{given.minutes:g} minutes, {len(names)} comparisons, seed {seed}", flush=True)
    while left > 1:
        for place, name in enumerate(names):
            seconds = min(_TURN, left / (len(names) - place))
            turn = compare(comparison(name), seed, seconds=seconds)
            counts.add(name, turn)
            left, failures = left - seconds, failures + len(turn.failures)
            print(f"{name:<25} {turn.cases:>6,} cases, {turn.seconds:.0f} s", *turn.failures, sep="\n  ", flush=True)
        seed += 1_000_003
    print(f"{failures} failures")
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
