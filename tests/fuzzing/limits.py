"""What may come of a case: a result or a ``ClausalError`` with a message one can read, in little time and memory."""

from __future__ import annotations

import signal
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from clausal.errors import ClausalError
from fuzzing.cases import Case

if TYPE_CHECKING:
    from fuzzing.targets import Target

SECONDS = 10  # of the CPU, which a busy machine does not stretch
MEMORY = 400_000_000  # bytes that a case may need beyond those of the process
_LONGEST_MESSAGE = 10_000
_PEAK = Path("/proc/self/clear_refs")


class Failure(AssertionError):  # noqa: N818  (it is no error of the program that it says)
    """What must not come of a case, though no exception says so."""


class TooSlow(Failure):
    """A case took more than its time."""


def check(target: Target, case: Case) -> None:
    """Run a case; raise what must not come of it."""
    try:
        _check(target, case, SECONDS)
    except TooSlow:  # a kernel may have been compiled, which happens once and takes longer than any case
        _check(target, case, 6 * SECONDS)


def _check(target: Target, case: Case, seconds: float) -> None:
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder, _bounded(seconds), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            target.run(case, Path(folder))
        except ClausalError as error:
            check_message(str(error))


def check_message(message: str) -> None:
    """Fail where a message is empty, too long, or none for a user."""
    if not message.strip():
        raise Failure("an error without a message")
    if len(message) > _LONGEST_MESSAGE:
        raise Failure(f"a message of {len(message):,} characters: {message[:200]}…")


@contextmanager
def _bounded(seconds: float) -> Iterator[None]:
    """Fail where the block takes too much of the CPU, or of memory at any one time."""

    def stop(*_: object) -> None:
        raise TooSlow(f"more than {seconds} s of the CPU")

    before = signal.signal(signal.SIGPROF, stop)
    at_first = resident("VmRSS")
    if _PEAK.exists():
        _PEAK.write_text("5")  # the kernel forgets the peak until now
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
    grown = resident("VmHWM") - at_first
    if grown > MEMORY:
        raise Failure(f"{grown / 1e6:,.0f} MB of memory")


def resident(field: str) -> int:
    """Bytes of this process as the kernel counts them; 0 where it does not tell."""
    try:
        lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    except OSError:
        return 0
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{field}:"))
