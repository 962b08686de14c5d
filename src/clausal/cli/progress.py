"""Progress on stderr: bars where it is a terminal, now and then a line where it is not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from clausal.cli.output import say, stderr

if TYPE_CHECKING:
    from clausal.training.algorithm import PassReport


@contextmanager
def training_progress(
    label: str, epochs: int, passes: int, clauses: int
) -> Iterator[tuple[Callable[[PassReport], None], Callable[[dict[str, Any]], None]]]:
    """Show loss, inconsistency, violated clauses and time left; yields what training calls after passes and epochs."""
    console = stderr()
    with Progress(
        TextColumn(f"{label}"),
        BarColumn(bar_width=24),
        TextColumn("epoch {task.fields[epoch]}/{task.fields[epochs]}  {task.fields[text]}"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    ) as bar:
        task = bar.add_task(label, total=epochs * passes, epoch=0, epochs=epochs, text="")
        valid = ""

        def describe(report: PassReport) -> str:
            violated = f"  violated {report.violated}/{clauses}" if clauses else ""
            inconsistency = f"  inconsistency {report.inconsistency:.3g}" if clauses else ""
            return f"loss {report.fact_loss:.4f}{inconsistency}{violated}{valid}"

        def on_pass(report: PassReport) -> None:
            done = (report.epoch - 1) * passes + report.passes
            bar.update(task, completed=done, epoch=report.epoch, text=describe(report))

        def on_epoch(record: dict[str, Any]) -> None:
            nonlocal valid
            if "valid" not in record:
                return
            valid = f"  valid MRR {record['valid']['mrr']:.4f}"
            if not console.is_terminal:
                inconsistency = f"  inconsistency {record['inconsistency']:.3g}" if clauses else ""
                violated = f"  violated {record['violated']}/{clauses}" if clauses else ""
                say(
                    f"{label}: epoch {record['epoch']}/{epochs}  loss {record['fact_loss']:.4f}"
                    f"{inconsistency}{violated}{valid}"
                )

        yield on_pass, on_epoch


@contextmanager
def ranking_progress() -> Iterator[Callable[[int, int], None]]:
    """Show how many facts have been ranked."""
    console = stderr()
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("ranking", total=None)
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
