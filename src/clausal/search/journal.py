"""Trials and their journal: a line of JSON for each trial that ended, from which a killed search goes on.

A user's search and the grids of ``results/`` have the same journals.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from clausal.errors import InputError, RunError
from clausal.files import check_file_target, explained_os_errors, locked_file, make_folder, sync_folder

FINISHED, CUT, PRUNED, FAILED = "finished", "cut short", "pruned", "failed"

STUDY_NUMBER = "trial"
"""What of a trial is its number in a study that many workers share; in other journals lines are numbers enough."""

Point = dict[str, Any]
"""A value for each setting that is searched, such as ``{"model.dim": 100}``."""


@dataclass(frozen=True)
class Trial:
    """One training of a search.

    ``value`` is its best validation; ``state`` says whether it finished, was cut short by the end of the time, was
    pruned as worse than others were at that epoch, or failed, for which ``error`` has the reason. ``validations`` are
    by epoch; ``drawn`` has what the sampler drew, where the settings are rounded; ``about`` is whatever else tells
    trials of one journal apart, such as their seeds.
    """

    number: int
    state: str
    value: float | None
    epoch: int
    seconds: float
    changes: Mapping[str, Any]
    error: str | None = None
    validations: Mapping[int, float] = field(default_factory=dict)
    drawn: Mapping[str, Any] = field(default_factory=dict)
    about: Mapping[str, Any] = field(default_factory=dict)

    @property
    def ended(self) -> bool:
        """Whether it came to an end: False where the time was up before its first validation."""
        return self.state != CUT or self.value is not None

    @property
    def judged(self) -> bool:
        """Whether it was trained as long as it was meant to be, or time allowed, and can be the best."""
        return self.state in (FINISHED, CUT) and self.value is not None

    def describe(self) -> str:
        """Return the settings of the trial in one line."""
        return ", ".join(f"{name.partition('.')[2]} {value}" for name, value in self.changes.items())


class Journal:
    """A file of trials, appended to; the number of a trial is that of its line."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> list[Trial]:
        """Return the trials so far; none where there is no file yet."""
        check_file_target(self.path)
        if not self.path.exists():
            return []
        with explained_os_errors(self.path):
            lines = self.path.read_bytes().split(b"\n")
        trials = []
        for number, line in enumerate(lines[:-1], start=1):  # after the last newline there is nothing, or half a line
            try:
                trials.append(read_trial(number, json.loads(line)))
            except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
                raise InputError(
                    f"{self.path}:{number}: damaged: not a trial; remove the line, or search with another journal"
                ) from None
        return trials

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep a second process from making the same trials."""

        def refuse() -> None:
            raise RunError(f"{self.path}: another process is adding to this journal")

        make_folder(self.path.parent)
        with locked_file(self.path.with_name(f".{self.path.name}.lock"), refuse):
            yield

    def append(self, trial: Trial) -> None:
        """Add a trial, and have it on the disk before anything else happens; half a line that a kill left goes."""
        check_file_target(self.path)
        with explained_os_errors(self.path):
            make_folder(self.path.parent)
            new = not self.path.exists()
            if not new:
                whole, newline, half = self.path.read_bytes().rpartition(b"\n")
                if half:
                    os.truncate(self.path, len(whole + newline))
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(written_trial(trial), ensure_ascii=False) + "\n")
                file.flush()
                os.fsync(file.fileno())
            if new:
                sync_folder(self.path.parent)


_OF_A_TRIAL = ("point", "state", "valid", "epoch", "seconds", "error", "validations", "drawn")


def read_trial(number: int, line: Mapping[str, Any]) -> Trial:
    """Return the trial of a line; ``number`` is that of the line, unless it has one of a study with many workers."""
    valid = line.get("valid")
    return Trial(
        number=int(line.get(STUDY_NUMBER, number)),
        state=str(line["state"]),
        value=None if valid is None else float(valid),
        epoch=int(line["epoch"]),
        seconds=float(line["seconds"]),
        changes=dict(line["point"]),
        error=line.get("error"),
        validations={int(epoch): float(value) for epoch, value in line.get("validations", {}).items()},
        drawn=dict(line.get("drawn", {})),
        about={name: value for name, value in line.items() if name not in _OF_A_TRIAL},
    )


def written_trial(trial: Trial) -> dict[str, Any]:
    """Return a trial as its line has it; what is empty is left out."""
    maybe = {"error": trial.error, "validations": dict(trial.validations), "drawn": dict(trial.drawn)}
    return {
        **trial.about,
        "point": dict(trial.changes),
        "state": trial.state,
        "valid": trial.value,
        "epoch": trial.epoch,
        "seconds": round(trial.seconds, 2),
        **{name: value for name, value in maybe.items() if value},
    }
