"""Progress on stderr: bars where it is a terminal, and a line at least every ten seconds where it is not."""

from __future__ import annotations

import _thread
import time
from contextlib import suppress
from threading import Event, Lock
from typing import TYPE_CHECKING, Any, Self

from clausal.cli.output import say, stderr
from clausal.errors import count
from clausal.observer import Observer, PassReport

if TYPE_CHECKING:
    from rich.progress import Progress

    from clausal.config import Settings


_ROOM_FOR_A_BAR = 110  # columns; with fewer, the words beside it leave no room for a bar


class Bars(Observer):
    """Shows what it is told: messages and rounds as lines, what is counted and trained as bars.

    ``label`` names a training, which is otherwise named by its scorer. A context manager, at whose end the bars go.
    Without a terminal there are no bars; while nothing else is said, the last that was heard is said every
    ``INTERVAL`` seconds, ``doing`` before anything was.
    """

    INTERVAL = 10.0

    def __init__(self, label: str | None = None, *, doing: str = "working") -> None:
        self.label = label
        self.bars: dict[str, Progress] = {}
        self.tasks: dict[str, Any] = {}
        self.training: _TrainingBar | None = None
        self.now = doing
        self._started = self._said = time.monotonic()
        self._ended = Event()
        self._saying = Lock()

    def __enter__(self) -> Self:
        if not stderr().is_terminal:
            self._started = self._said = time.monotonic()
            # Thread.start would wait for ever for a thread that ends at once for lack of memory.
            with suppress(RuntimeError):  # no more threads: then nothing is said in between
                _thread.start_new_thread(self._speak, ())
        return self

    def __exit__(self, *_: object) -> None:
        with self._saying:
            self._ended.set()
        self.close()

    def _speak(self) -> None:
        """Say what is being done whenever nothing was said for a while."""
        while not self._ended.wait(max(0.01, self._said + self.INTERVAL - time.monotonic())):
            with self._saying:
                if not self._ended.is_set() and time.monotonic() >= self._said + self.INTERVAL:
                    self.say(f"{self.now}, {time.monotonic() - self._started:.0f} s so far")

    def say(self, text: str) -> None:
        """Print a line on stderr."""
        self._said = time.monotonic()
        say(text)

    def close(self) -> None:
        """End the bars that are shown; what is told next begins new ones."""
        shown = [*self.bars.values(), *([] if self.training is None else [self.training.bar])]
        for bar in shown:
            if not bar.disable:  # or else older versions of rich print an empty line
                bar.stop()
        self.bars, self.tasks, self.training = {}, {}, None

    def message(self, text: str) -> None:
        self.say(text)

    def advanced(self, what: str, done: int, total: int | None, unit: str) -> None:
        downloading = unit == "bytes"
        kind = "downloads" if downloading else "counts"
        if kind not in self.bars:
            self.bars[kind] = _download_bar() if downloading else _counting_bar()
            self.bars[kind].start()
        bar = self.bars[kind]
        if what not in self.tasks:
            self.tasks[what] = bar.add_task(what, total=total)
            if downloading and not stderr().is_terminal:
                self.say(f"downloading {what}")
        self.now = f"{what}: {done:,}{'' if total is None else f' of {total:,}'} {unit}"
        bar.update(self.tasks[what], completed=done, total=total)

    def training_started(self, settings: Settings, clauses: int) -> None:
        self.close()  # a terminal shows one thing at a time
        train = settings.train
        self.training = _TrainingBar(self.label or settings.model.scorer, train.epochs, train.passes, clauses)
        self.training.bar.start()

    def passed(self, report: PassReport) -> None:
        if self.training is not None:
            self.now = self.training.passed(report)

    def epoch(self, record: dict[str, Any]) -> None:
        if self.training is not None:
            self.now = self.training.epoch(record)
            if "valid" in record and not stderr().is_terminal:
                self.say(self.now)

    def derived(self, round: int, new: int, total: int, seconds: float) -> None:
        self.say(f"round {round}: {count(new, 'new fact')}, {total:,} in all, {seconds:.2f} s")
        self.now = f"round {round + 1}"


class _TrainingBar:
    """Epochs, loss, inconsistency, what of it is certified, MRR on valid and time left, within 80 columns.

    Until a bound is known, the clauses that the adversary finds violated are counted in its place.
    """

    def __init__(self, label: str, epochs: int, passes: int, clauses: int) -> None:
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
        from rich.table import Column

        self.label, self.epochs, self.passes, self.clauses = label, epochs, passes, clauses
        self.valid = self.certified = ""
        wide = stderr().width >= _ROOM_FOR_A_BAR
        self.bar = Progress(
            TextColumn("{task.description}"),
            *([BarColumn(bar_width=None, table_column=Column(ratio=1))] if wide else []),
            TextColumn("{task.fields[text]}", table_column=Column(no_wrap=True)),
            TimeRemainingColumn(compact=True, table_column=Column(no_wrap=True)),
            console=stderr(),
            expand=True,
            transient=True,
            disable=not stderr().is_terminal,
        )
        self.task = self.bar.add_task(label, total=epochs * passes, text="starting")

    def passed(self, report: PassReport) -> str:
        """Show a pass, and return it in words."""
        done = (report.epoch - 1) * self.passes + report.passes
        text = self._text(report.record())
        self.bar.update(self.task, completed=done, text=text)
        return f"{self.label}: epoch {text}"

    def epoch(self, record: dict[str, Any]) -> str:
        """Keep what an epoch found, and return it in words."""
        if "certified" in record:
            self.certified = f" certified {record['certified']['inconsistency']:.3g}"
        if "valid" in record:
            self.valid = f" MRR {record['valid']['mrr']:.3f}"
        return f"{self.label}: epoch {self._text(record)}"

    def _text(self, record: dict[str, Any]) -> str:
        about = "~" if record.get("estimated") else ""
        violated = f" violated {about}{record['violated']}/{self.clauses}"
        found = f" inconsistency {about}{record['inconsistency']:.3g}{self.certified or violated}"
        return (
            f"{record['epoch']}/{self.epochs} loss {record['fact_loss']:.2f}{found if self.clauses else ''}{self.valid}"
        )


def _counting_bar() -> Progress:
    from rich.progress import Progress

    return Progress(console=stderr(), transient=True, disable=not stderr().is_terminal)


def _download_bar() -> Progress:
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn

    columns = TextColumn("{task.description}"), BarColumn(), DownloadColumn()
    return Progress(*columns, console=stderr(), disable=not stderr().is_terminal)
