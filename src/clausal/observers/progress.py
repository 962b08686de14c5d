"""A progress bar without a dependency: in a notebook as HTML, in a terminal as a line that is written over."""

from __future__ import annotations

import sys
import time
from typing import Any

from clausal.config import Settings
from clausal.drawing import Html, html, notebook, tag
from clausal.observer import Observer, PassReport

_EVERY = 0.1  # seconds between two pictures


class Progress(Observer):
    """Shows how far a training has come, with loss, inconsistency and MRR on valid, and what else is counted.

    In a notebook it is a bar under the cell; elsewhere a line on stderr, which is written over in a terminal and
    printed at each validation where stderr is a file.
    """

    def __init__(self) -> None:
        self._display = _notebook_display()
        self._terminal = sys.stderr.isatty()
        self._shown = 0.0
        self._epochs = self._passes = 1
        self._clauses = 0
        self._valid = ""

    def message(self, text: str) -> None:
        if self._display is None:
            self._line(text, end="\n")
        else:
            from IPython.display import display

            display(notebook(tag("p", text, class_="muted")))

    def advanced(self, what: str, done: int, total: int | None, unit: str) -> None:
        if total:
            self._show(what, done / total, f"{done:,} of {total:,} {unit}", last=done >= total)

    def training_started(self, settings: Settings, clauses: int) -> None:
        self._epochs, self._passes, self._clauses = settings.train.epochs, settings.train.passes, clauses
        self._valid = ""
        if self._display is not None:
            self._display = _notebook_display()  # a bar for each training

    def passed(self, report: PassReport) -> None:
        done = ((report.epoch - 1) * self._passes + report.passes) / (self._epochs * self._passes)
        self._show("training", done, self._text(report.record()))

    def epoch(self, record: dict[str, Any]) -> None:
        if "valid" in record:
            self._valid = f", MRR {record['valid']['mrr']:.3f} on valid"
            if self._display is None and not self._terminal:
                self._line(self._text(record), end="\n")

    def training_finished(self, metrics: dict[str, Any]) -> None:
        training = metrics["training"]
        text = f"{training['epochs']:,} epochs in {training['seconds']:,.1f} s, epoch {training['best_epoch']} kept"
        self._show("trained", 1.0, text + self._valid, last=True)

    def _text(self, record: dict[str, Any]) -> str:
        clauses = f", inconsistency {record['inconsistency']:.3g}" if self._clauses else ""
        return f"epoch {record['epoch']:,} of {self._epochs:,}, loss {record['fact_loss']:.3g}{clauses}{self._valid}"

    def _show(self, what: str, share: float, text: str, *, last: bool = False) -> None:
        now = time.monotonic()
        if not last and now - self._shown < _EVERY:
            return
        self._shown = now
        if self._display is not None:
            self._display.update(bar_html(what, share, text))
        elif self._terminal or last:
            self._line(f"{what} {share:4.0%}  {text}", end="\n" if last else "")

    def _line(self, text: str, end: str) -> None:
        start = "\r\x1b[K" if self._terminal else ""
        print(f"{start}{text}", end=end, file=sys.stderr, flush=True)


def bar_html(what: str, share: float, text: str) -> Html:
    """Write a bar with what it is about."""
    bar = tag("progress", f"{share:.0%}", value=f"{share:.4f}", max=1, aria_label=what)
    return notebook(tag("p", html(f"{what} "), bar, html(f" {text}")))


def _notebook_display() -> Any:
    """Return a place of a notebook's output that can be written over; None where there is no notebook."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    if shell is None or not hasattr(shell, "kernel"):
        return None
    from IPython.display import display

    return display(Html(""), display_id=True)
