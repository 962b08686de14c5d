"""Progress on stderr: bars where it is a terminal, now and then a line where it is not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Column

from clausal.cli.output import say, stderr

if TYPE_CHECKING:
    from clausal.training.algorithm import PassReport


@contextmanager
def training_progress(
    label: str, epochs: int, passes: int, clauses: int
) -> Iterator[tuple[Callable[[PassReport], None], Callable[[dict[str, Any]], None]]]:
    """Show epochs, loss, inconsistency, what of it is certified, MRR on valid and time left, within 80 columns.

    Until a bound is known, the clauses that the adversary finds violated are counted in its place.

    Yields what training calls after passes and epochs.
    """
    console = stderr()
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=None, table_column=Column(ratio=1)),
        TextColumn("{task.fields[text]}", table_column=Column(no_wrap=True)),
        TimeRemainingColumn(compact=True, table_column=Column(no_wrap=True)),
        console=console,
        expand=True,
        transient=True,
        disable=not console.is_terminal,
    ) as bar:
        task = bar.add_task(label, total=epochs * passes, text="starting")
        valid = certified = ""

        def describe(epoch: int, fact_loss: float, inconsistency: float, violated: int) -> str:
            found = f" inconsistency {inconsistency:.3g}{certified or f' violated {violated}/{clauses}'}"
            return f"{epoch}/{epochs} loss {fact_loss:.2f}{found if clauses else ''}{valid}"

        def on_pass(report: PassReport) -> None:
            done = (report.epoch - 1) * passes + report.passes
            text = describe(report.epoch, report.fact_loss, report.inconsistency, report.violated)
            bar.update(task, completed=done, text=text)

        def on_epoch(record: dict[str, Any]) -> None:
            nonlocal valid, certified
            if "certified" in record:
                certified = f" certified {record['certified']['inconsistency']:.3g}"
            if "valid" not in record:
                return
            valid = f" MRR {record['valid']['mrr']:.3f}"
            if not console.is_terminal:
                numbers = (record[name] for name in ("epoch", "fact_loss", "inconsistency", "violated"))
                say(f"{label}: epoch {describe(*numbers)}")

        yield on_pass, on_epoch


@contextmanager
def ranking_progress() -> Iterator[Callable[[int, int], None]]:
    """Show how many facts have been ranked."""
    with counting_progress() as progress:
        yield partial(progress, "ranking")


@contextmanager
def counting_progress() -> Iterator[Callable[[str, int, int], None]]:
    """Show a bar for each thing that is counted; yields what is called with its name, what is done, and the total."""
    console = stderr()
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        tasks: dict[str, Any] = {}

        def progress(what: str, done: int, total: int) -> None:
            if what not in tasks:
                tasks[what] = bar.add_task(what, total=total)
            bar.update(tasks[what], completed=done, total=total)

        yield progress


@contextmanager
def entity_progress() -> Iterator[Callable[[int, int], None]]:
    """Show how far certifying has come; what takes long is the check over the real entities."""
    console = stderr()
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("certifying", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


@contextmanager
def download_progress() -> Iterator[Callable[[str, int, int | None], None]]:
    """Show downloads as they arrive; nothing is shown when there is nothing to download."""
    console = stderr()
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        console=console,
        disable=not console.is_terminal,
    ) as bar:
        tasks: dict[str, Any] = {}

        def progress(label: str, done: int, total: int | None) -> None:
            if label not in tasks:
                tasks[label] = bar.add_task(label)
                if not console.is_terminal:
                    say(f"downloading {label}")
            bar.update(tasks[label], completed=done, total=total)

        yield progress
