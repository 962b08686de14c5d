"""Ctrl-C from the first moment of a command on: raised where it can be, and again until somebody hears it.

Python raises ``KeyboardInterrupt`` wherever it happens to be. While a library is imported that leaves half a module, or
is swallowed: pyarrow imports pandas and drops whatever that raises. So an interrupt waits for the end of an import, and
one that nobody heard comes again.
"""

from __future__ import annotations

import _thread
import os
import signal
import sys
import threading
import time
from types import FrameType

_PATIENCE = 0.4  # seconds that an import may take to end after Ctrl-C
_SOON, _LATER = 0.02, 0.5  # seconds until an interrupt is tried again: before it was raised, and after
_IMPORTING = "<frozen importlib._bootstrap"


class Interrupts:
    """Takes over Ctrl-C while its block runs. ``came`` says whether there was one; ``ended`` makes further ones silent.

    Where Ctrl-C is ignored, as in a background job, or handled by somebody else, it stays so.
    """

    def __init__(self) -> None:
        self.came = False
        self._ended = False
        self._raised = False
        self._reminder = False
        self._since = 0.0
        self._process = os.getpid()
        self._before: object = None

    def __enter__(self) -> Interrupts:
        in_main_thread = threading.current_thread() is threading.main_thread()
        if in_main_thread and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            self._before = signal.signal(signal.SIGINT, self._handle)
        return self

    def __exit__(self, *_: object) -> None:
        self.ended()
        if self._before is not None:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def ended(self) -> None:
        """Raise no more: the command is about to say how it ended."""
        self._ended = True

    def _handle(self, _: int, frame: FrameType | None) -> None:
        if os.getpid() != self._process:  # a worker that was forked
            raise KeyboardInterrupt
        reminder, self._reminder = self._reminder, False
        if self._ended:
            return
        first, self.came = not self.came, True
        if first:
            self._since = time.monotonic()
            _thread.start_new_thread(self._remind, ())  # takes no lock that the interrupted code may hold
        if first or reminder:  # else the user is impatient
            if _is_handled():
                return
            if _is_importing(frame) and time.monotonic() - self._since < _PATIENCE:
                return
        self._raised = True
        raise KeyboardInterrupt

    def _remind(self) -> None:
        while True:
            time.sleep(_LATER if self._raised else _SOON)
            if self._ended:
                return
            self._reminder = True
            if hasattr(signal, "pthread_kill"):
                signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
            else:  # on Windows
                _thread.interrupt_main()


def _is_handled() -> bool:
    """Say whether the interrupted code is cleaning up after an interrupt."""
    error = sys.exc_info()[1]
    for _ in range(100):
        if error is None or isinstance(error, KeyboardInterrupt):
            break
        error = error.__context__
    return isinstance(error, KeyboardInterrupt)


def _is_importing(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_filename.startswith(_IMPORTING):
            return True
        frame = frame.f_back
    return False
