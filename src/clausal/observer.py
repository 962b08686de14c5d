"""Observers: progress bars, logs and callbacks of everything that takes long are one class with one method per event.

>>> class Losses(clausal.Observer):
...     def epoch(self, record):
...         print(record["epoch"], record["fact_loss"])
>>> clausal.train(graph, clauses, observer=Losses())
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

if TYPE_CHECKING:
    from clausal.config import Settings

_LOG = logging.getLogger("clausal")
_P = ParamSpec("_P")
_R = TypeVar("_R")


@dataclass(frozen=True)
class PassReport:
    """What one pass over the facts showed; ``epoch`` and ``passes`` count from 1.

    ``inconsistency`` and ``violated`` are of the clauses on the adversarial set at the last step; they are estimated
    where a step takes a random part of the clauses.
    """

    epoch: int
    passes: int
    fact_loss: float
    inconsistency: float
    violated: int
    estimated: bool = False

    def record(self) -> dict[str, Any]:
        """Return it for the log, where ``estimated`` is in what is."""
        record = asdict(self)
        return record if self.estimated else {name: record[name] for name in record if name != "estimated"}


class Observer:
    """Is told what happens while clausal works. Derive from it and override the events that you need.

    An exception that a method raises ends the work; what a run directory holds by then can be resumed.
    """

    def message(self, text: str) -> None:
        """Take a sentence for the user. Unless overridden, it goes to the log ``clausal`` of the standard library."""
        _LOG.info(text)

    def advanced(self, what: str, done: int, total: int | None, unit: str) -> None:
        """Take how much of ``what`` is done, of how much if that is known; downloads are counted in ``"bytes"``."""

    def training_started(self, settings: Settings, clauses: int) -> None:
        """Take the settings of a training that begins or goes on, and how many clauses it obeys."""

    def passed(self, report: PassReport) -> None:
        """Take what a pass over the facts showed."""

    def epoch(self, record: dict[str, Any]) -> None:
        """Take the record of an outer epoch, a line of ``log.jsonl``; ``valid`` and ``certified`` are in some."""

    def training_finished(self, metrics: dict[str, Any]) -> None:
        """Take what ``metrics.json`` holds: the model on valid and test, and how it was trained."""

    def derived(self, round: int, new: int, total: int, seconds: float) -> None:
        """Take how many new facts a round of a closure has derived, and how many facts there are now in all."""

    def trial_started(self, number: int, settings: Settings) -> None:
        """Take the number and the settings of a trial of a search; the events of its training follow."""

    def trial_finished(self, found: Any, seconds_left: float | None) -> None:
        """Take the search so far (a ``clausal.search.SearchResult``) after a trial, and the time left if limited."""


class Observers(Observer):
    """Tells several observers, in their order."""

    def __init__(self, *observers: Observer) -> None:
        self.observers = observers


def _tell_all(event: str) -> Callable[..., None]:
    @wraps(getattr(Observer, event))
    def tell(self: Observers, *arguments: Any) -> None:
        for observer in self.observers:
            getattr(observer, event)(*arguments)

    return tell


EVENTS = tuple(name for name in vars(Observer) if not name.startswith("_"))
for _event in EVENTS:
    setattr(Observers, _event, _tell_all(_event))


class Calling(Observer):
    """Calls the functions that are given by the names of events, such as ``Calling(epoch=print)``."""

    def __init__(self, **functions: Callable[..., object] | None) -> None:
        for event, function in functions.items():
            if event not in EVENTS:
                raise TypeError(f"'{event}' is no event of an observer; known: {', '.join(EVENTS)}")
            if function is not None:
                setattr(self, event, function)


def replaces(**callbacks: tuple[str, Callable[..., tuple[Any, ...]]]) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]:
    """Let a function that takes ``observer`` accept callbacks of version 0.1 by their names, with a warning.

    Each callback is named with the event that it is called at, and what it is given of the event's arguments.
    """

    def decorate(function: Callable[_P, _R]) -> Callable[_P, _R]:
        @wraps(function)
        def accepting(*arguments: Any, **options: Any) -> Any:
            for name in callbacks.keys() & options.keys():
                event, given = callbacks[name]
                warnings.warn(
                    f"{name}= is deprecated; derive a class from clausal.Observer with a method '{event}' "
                    "and give an instance as observer=",
                    DeprecationWarning,
                    stacklevel=2,
                )
                callback = options.pop(name)
                if callback is not None:
                    options["observer"] = _with_callback(options.get("observer"), event, callback, given)
            return function(*arguments, **options)

        return accepting

    return decorate


def _with_callback(
    observer: Observer | None, event: str, callback: Callable[..., object], given: Callable[..., tuple[Any, ...]]
) -> Observer:
    replaced = Observers(observer or Observer())
    setattr(replaced, event, lambda *arguments: callback(*given(*arguments)))
    return replaced


def all_arguments(*arguments: Any) -> tuple[Any, ...]:
    """Give a callback all arguments of its event."""
    return arguments
