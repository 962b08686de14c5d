"""A Spark cluster that may not be there: a master that does not answer, and workers that do not come or go away."""

from __future__ import annotations

import re
import socket
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

from clausal.errors import RunError

T = TypeVar("T")

_ANSWERS = 10.0  # seconds in which a master answers
_STARTS = 180.0  # seconds in which Java starts, and a cluster lets the driver in
_WORKERS = 60.0  # seconds in which the first worker comes
_HOST = re.compile(r"(?:spark://)?(\[[^\]]+\]|[^:,/]+):(\d+)")


def own_address(master: str) -> str | None:
    """Return the address of this machine that a standalone master sees; a ``RunError`` where none answers.

    Spark itself would try for minutes, and then say little. None stands for other kinds of masters.
    """
    if not master.startswith("spark://"):
        return None
    reasons = []
    for place in master.removeprefix("spark://").split(","):
        found = _HOST.fullmatch(place)
        if found is None:
            raise RunError(f"'{master}' is no address of a Spark master; expected spark://host:7077")
        host, port = found[1].strip("[]"), int(found[2])
        try:
            with socket.create_connection((host, port), timeout=_ANSWERS) as connection:
                address: str = connection.getsockname()[0]
                return address
        except (OSError, OverflowError) as error:
            reasons.append(str(getattr(error, "strerror", None) or error))
    raise RunError(
        f"the Spark master {master} cannot be reached: {'; '.join(reasons)}; is it started, and are host and "
        "port those that its log names?"
    )


def started_in_time(start: Callable[[], T], master: str) -> T:
    """Call what starts Spark; a ``RunError`` where it is not back in time, as a queue of YARN may be full for hours.

    The work is done in a thread that can be left behind.
    """
    started: Future[T] = Future()

    def work() -> None:
        try:
            started.set_result(start())
        except BaseException as error:
            started.set_exception(error)

    threading.Thread(target=work, name="clausal-spark", daemon=True).start()
    try:
        return started.result(_STARTS)
    except TimeoutError:
        raise RunError(
            f"Spark ({master}) has not started within {_STARTS:g} s: does `java -version` answer, and has the cluster "
            "room for one more application?"
        ) from None


def workers(context: Any) -> int:
    """Count the executors that work for a Spark context."""
    return int(context._jsc.sc().getExecutorMemoryStatus().size()) - 1  # the driver is one of them


def wait_for_workers(context: Any, master: str) -> None:
    """Wait until a worker has come; a ``RunError`` where none does."""
    until = time.monotonic() + _WORKERS
    while not workers(context):
        if time.monotonic() > until:
            raise RunError(
                f"the Spark cluster {master} has given no worker within {_WORKERS:g} s: there is none, all are busy, "
                "or none has the memory that is asked for (--memory, 1 GB by default)"
            )
        time.sleep(0.1)


class WorkerWatch:
    """Looks every few seconds whether workers are left, and ends the work where none is; Spark would wait for ever."""

    def __init__(self, context: Any, patience: float = _WORKERS) -> None:
        self.alone = False
        self.patience = patience
        self._context = context
        self._ended = threading.Event()
        threading.Thread(target=self._look, name="clausal-workers", daemon=True).start()

    def stop(self) -> None:
        """Look no more."""
        self._ended.set()

    def _look(self) -> None:
        seen = time.monotonic()
        while not self._ended.wait(2):
            try:
                if workers(self._context):
                    seen = time.monotonic()
                elif time.monotonic() - seen > self.patience:
                    self.alone = True
                    self._context.cancelAllJobs()
                    return
            except Exception:  # the driver is gone, and who works with it is told by itself
                return
