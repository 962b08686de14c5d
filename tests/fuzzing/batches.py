"""Many cases of a target, drawn by a seed, and what failed: each failure once, as the smallest case that shows it."""

from __future__ import annotations

import re
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.errors import HypothesisException

from fuzzing.cases import Case
from fuzzing.limits import Failure, check
from fuzzing.targets import Target

EXAMPLES = 200  # of one batch, after which another seed begins


@dataclass(frozen=True)
class Found:
    """A case that failed, and how: the kind of the exception, where it was raised, and what it says."""

    case: Case
    place: str
    error: str


def place_of(error: BaseException) -> str:
    """Name the kind of an exception and the last line of this project's code that it passed."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "/clausal" in frame.filename] or list(frames)
    last = ours[-1]
    # What a target says of an outcome is told apart by its first words, without numbers.
    said = re.sub(r"\d+", "", str(error))[:60].partition("\n")[0] if isinstance(error, Failure) else ""
    return f"{type(error).__name__} at {Path(last.filename).name}:{last.name} {said}".strip()


def fuzz(
    target: Target, number: int, seconds: float, tell: Callable[[Case], None], known: set[str]
) -> Iterator[tuple[int, Found | None]]:
    """Yield, batch by batch, how many cases were tried and the failure that was found, if it is none of ``known``."""
    end, tried, last = time.monotonic() + seconds, 0, None

    def one(case: Case) -> None:
        nonlocal tried, last
        if time.monotonic() > end:
            return
        tried += 1
        tell(case)
        try:
            check(target, case)
        except HypothesisException:
            raise
        except Exception as error:
            place = place_of(error)
            if place not in known:
                last = Found(case, place, f"{type(error).__name__}: {error}"[:2000])
                raise

    drawn = settings(
        max_examples=EXAMPLES,
        database=None,
        deadline=None,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
        report_multiple_bugs=False,
        print_blob=False,
    )(given(target.cases)(one))
    while time.monotonic() < end:
        tried, last = 0, None
        try:
            seed(number)(drawn)()
        except Exception:
            if last is None:
                raise
            known.add(last.place)
        yield tried, last
        number += 1
