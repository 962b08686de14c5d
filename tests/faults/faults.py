"""The faults: each is tried at one step of a command, and says what is wrong with how the command took it."""

from __future__ import annotations

import errno
import itertools
import os
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from faults.commands import Command
from faults.power_cut import Disk
from faults.watching import NO_ROOM, Process, Step, write_half

_PATIENCE = 2.0  # seconds that a command may take to end after SIGINT or SIGTERM
_AT_THE_END = 0.5  # seconds in which a command may end well in spite of a signal
_HELD = 3.0  # seconds that a second command may wait for the first, before that goes on
_OPENING = ("open", "openat", "creat")
_NEVER_BEGAN = "Exception ignored in thread started by"
"""What Python says of a thread that found no memory to begin; before version 3.13 it then waits for it for ever."""
_STOPPED = {signal.SIGINT: 130, signal.SIGTERM: -signal.SIGTERM}


class WrongError(Exception):
    """What a command did after a fault that it must not do."""


class SlowError(WrongError):
    """It took too long to end; on a busy machine that can be chance."""


@dataclass
class Trial:
    """One command in a folder of its own, with the result that it must come to in the end."""

    command: Command
    template: Path
    folder: Path
    reference: Any
    hit: Step | None = None
    """The step that the fault came at; None where the command ended before it."""
    code: int = 0
    seconds: float = 0.0
    notes: list[str] = field(default_factory=list)

    @property
    def root(self) -> Path:
        """Where the command works."""
        return self.folder / "work"

    @property
    def log(self) -> Path:
        """What it printed."""
        return self.folder / "log"

    def start(self, watch: str | None = "changes", log: str = "log") -> Process:
        return self.command.start(self.root, self.folder / log, watch=watch)

    def reach(self, step: Step, number: int) -> bool:
        """Say whether this is the step; from then on it is ``hit``."""
        if step.number == number:
            self.hit = step
        return step.number == number

    def require_message(self) -> None:
        """Check that the command ended well, or in one message that is no mistake of the program."""
        said = self.log.read_text(errors="replace")
        if "Traceback" in said or "internal error" in said or self.code not in (0, 1, 2, 130):
            raise WrongError(f"ended with {self.code}: {said[-1500:]}")
        if self.code in (1, 2) and sum(line.startswith("error:") for line in said.splitlines()) != 1:
            raise WrongError(f"not one message: {said[-1500:]}")

    def require_recovery(self) -> None:
        """Check that the old state stands, or the result is there, or finishing the command comes to it."""
        left = self.command.result(self.root)
        if left == self.reference:
            return
        if self.code == 0 and self.hit is not None and not self.notes:
            raise WrongError(f"ended well, with another result: {_difference(left, self.reference)}")
        if not self.command.resumable and not self.command.untouched(self.root):
            raise WrongError(f"neither the old state nor the result: {_difference(left, self.reference)}")
        code = self.command.start(self.root, self.folder / "finished", finish=True).wait()
        if code != 0:
            raise WrongError(f"cannot be finished: {(self.folder / 'finished').read_text(errors='replace')[-1500:]}")
        left = self.command.result(self.root)
        if left != self.reference:
            raise WrongError(f"finished with another result: {_difference(left, self.reference)}")


@contextmanager
def new_trial(command: Command, template: Path, reference: Any) -> Iterator[Trial]:
    """Yield a trial in a fresh folder, which is gone afterwards."""
    folder = template.with_name(f"trial-{os.getpid()}")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    command.prepare(template, folder / "work")
    try:
        yield Trial(command, template, folder, reference)
    finally:
        shutil.rmtree(folder)


def kill(trial: Trial, number: int) -> None:
    """kill -9 at a step, half of which is done where it is a write."""
    process = trial.start()

    def decide(step: Step) -> int:
        if trial.reach(step, number):
            write_half(step)
            process.kill()
        return 0

    trial.code = process.watch(trial.root, decide)
    trial.require_recovery()


def cut_power(trial: Trial, number: int, *, names: bool) -> None:
    """The power goes before a step, or after the end, and what was not synced is lost."""
    disk = Disk(trial.root)
    process = trial.start()

    def decide(step: Step) -> int:
        if trial.reach(step, number):
            process.kill()
        elif trial.hit is None:
            disk.follow(step)
        return 0

    trial.code = process.watch(trial.root, decide)
    disk.cut(names=names)
    trial.require_recovery()


def refuse(trial: Trial, number: int, error: int) -> None:
    """A call fails: a full disk refuses all that needs room from then on, other errors come once."""
    process = trial.start("files" if error in (errno.EIO, errno.EMFILE) else "changes")

    def decide(step: Step) -> int:
        if error in (errno.ENOSPC, errno.EROFS):
            if trial.hit is None:
                trial.reach(step, number)
            needs_room = (step.call in NO_ROOM if error == errno.ENOSPC else True) and not step.reads
            return error if trial.hit is not None and needs_room else 0
        return error if trial.reach(step, number) else 0

    trial.code = process.watch(trial.root, decide)
    trial.require_message()
    trial.require_recovery()


def lack_memory(trial: Trial, number: int) -> None:
    """The system has no more memory at one moment. A native library may end the process then, as a kill does."""
    process = trial.start("memory")
    trial.code = process.watch(trial.root, lambda step: errno.ENOMEM if trial.reach(step, number) else 0)
    if trial.code == -signal.SIGKILL and _NEVER_BEGAN not in trial.log.read_text(errors="replace"):
        raise WrongError(f"did not end: {trial.log.read_text(errors='replace')[-1500:]}")
    said = trial.log.read_text(errors="replace")
    if "internal error" in said:
        raise WrongError(f"ended with {trial.code}: {said[-1500:]}")
    trial.require_recovery()


def stop(trial: Trial, number: int, signal_number: signal.Signals) -> None:
    """SIGINT or SIGTERM at a step: the end comes soon, and the checkpoint stays."""
    process = trial.start()
    sent = 0.0

    def decide(step: Step) -> int:
        nonlocal sent
        if trial.reach(step, number):
            process.kill(signal_number)
            sent = time.monotonic()
        return 0

    trial.code = process.watch(trial.root, decide)
    trial.seconds = time.monotonic() - sent if sent else 0.0
    if trial.seconds > _PATIENCE:
        raise SlowError(f"took {trial.seconds:.1f} s to end")
    if trial.code != _STOPPED[signal_number]:
        trial.require_message()
    ended_first = trial.code == 0 and trial.seconds < _AT_THE_END
    if trial.hit is not None and trial.code != _STOPPED[signal_number] and not ended_first:
        raise WrongError(f"ended with {trial.code}")
    trial.notes += ["stopped"]
    trial.require_recovery()


def twice(trial: Trial, number: int) -> None:
    """The same command runs a second time while the first waits at a step."""
    process, second = trial.start(), None

    def decide(step: Step) -> int:
        nonlocal second
        if trial.reach(step, number):
            second = trial.start(None, "second")
            second.ended(_HELD)
        return 0

    trial.code = process.watch(trial.root, decide)
    codes = [trial.code]
    if second is not None:
        codes.append(second.wait())
    for code, log in zip(codes, ("log", "second"), strict=False):
        said = (trial.folder / log).read_text(errors="replace")
        if code not in (0, 1, 2) or "Traceback" in said or "internal error" in said:
            raise WrongError(f"{log} ended with {code}: {said[-1500:]}")
    if 0 not in codes:
        raise WrongError(f"none of two ended well: {trial.log.read_text()[-700:]}")
    trial.code, trial.notes = 1, ["two"]
    left = trial.command.result(trial.root)
    if left != trial.reference:
        raise WrongError(f"two at once left another result: {_difference(left, trial.reference)}")


def turn_back_the_clock(trial: Trial, number: int) -> None:
    """The clock of the system goes back by an hour whenever it is looked at."""
    process = trial.command.start(trial.root, trial.log, watch="changes", first=_turn_back)
    trial.code = process.watch(trial.root, lambda step: 0 * trial.reach(step, number))
    trial.require_message()
    trial.require_recovery()


def _turn_back() -> None:
    start, looks = time.time(), itertools.count()
    time.time = lambda: start - 3600 * next(looks)
    time.time_ns = lambda: int(1e9 * time.time())


Fault = Callable[[Trial, int], None]

FAULTS: dict[str, Fault] = {
    "kill": kill,
    "power cut": lambda trial, number: cut_power(trial, number, names=False),
    "power cut, names kept": lambda trial, number: cut_power(trial, number, names=True),
    "disk full": lambda trial, number: refuse(trial, number, errno.ENOSPC),
    "input or output error": lambda trial, number: refuse(trial, number, errno.EIO),
    "too many open files": lambda trial, number: refuse(trial, number, errno.EMFILE),
    "read-only": lambda trial, number: refuse(trial, number, errno.EROFS),
    "no memory": lack_memory,
    "SIGINT": lambda trial, number: stop(trial, number, signal.SIGINT),
    "SIGTERM": lambda trial, number: stop(trial, number, signal.SIGTERM),
    "two at once": twice,
    "clock going back": turn_back_the_clock,
}


def applies(fault: str, step: Step) -> bool:
    """Say whether a fault can come at a step."""
    if fault == "too many open files":
        return step.call in _OPENING
    if fault == "input or output error":
        return True
    if fault == "no memory":
        return step.call in ("mmap", "brk", "mremap")
    if fault in ("read-only", "clock going back"):
        return step.number == 1
    return not step.reads


def _difference(left: Any, expected: Any, place: str = "") -> str:
    """Name what differs in two results, each with what is there and what should be."""
    if isinstance(left, list) and isinstance(expected, list) and len(left) == len(expected):
        left, expected = dict(enumerate(left)), dict(enumerate(expected))
    if isinstance(left, dict) and isinstance(expected, dict):
        names = [name for name in left.keys() | expected.keys() if left.get(name) != expected.get(name)]
        return ", ".join(_difference(left.get(name), expected.get(name), f"{place} {name}") for name in sorted(names))
    return f"{place.strip()}: {str(left)[:200]}, expected {str(expected)[:200]}"
