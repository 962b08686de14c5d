"""Signs of life: a process that falls silent, as that of a machine that has lost its network, ends the others.

One that ends is noticed at once, as the system closes its connections. One that is only silent says nothing, and an
exchange with it would wait for long. So each process leaves a sign on the board every few seconds, and looks at the
signs of the others. What ends is this process alone: what waits in an exchange cannot be woken by an error.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from threading import Event, Thread
from typing import TYPE_CHECKING

from clausal.peers.group import RESUME

if TYPE_CHECKING:
    from torch.distributed import Store  # type: ignore[attr-defined]

_EVERY = 2.0
_TICK = 1.0
_LEFT = b"left"


def end(message: str) -> None:
    """Say why, and end this process, whatever it waits for."""
    print(f"error: {message}", file=sys.stderr, flush=True)
    os._exit(1)


class Heartbeat:
    """Leaves signs of this process, and watches those of the others, until it is stopped.

    The time of silence is counted in ticks of this process, so that several that were stopped together, as by Ctrl-Z,
    can go on together.
    """

    def __init__(
        self,
        store: Store,
        rank: int,
        size: int,
        silence: float,
        lost: Callable[[str], None] = end,
        advice: str = RESUME,
    ) -> None:
        self._store, self._rank, self._size, self._most = store, rank, size, silence
        self._lost, self._advice = lost, advice
        self._silent = dict.fromkeys((other for other in range(size) if other != rank), 0.0)
        self._stopped = Event()
        for work in (self._beat, self._watch):  # a board that does not answer must not keep the watch from its work
            Thread(target=work, name="clausal-heartbeat", daemon=True).start()

    def stop(self) -> None:
        """Give no more signs, and watch for none."""
        self._stopped.set()

    def leave(self) -> None:
        """Stop, and tell the others that this process has done its work and is not silent."""
        self.stop()
        with suppress(Exception):  # the board may be gone
            self._store.set(f"alive/{self._rank}", _LEFT.decode())

    def _beat(self) -> None:
        seen: dict[int, bytes] = {}
        beats = 0
        while not self._stopped.is_set():
            with suppress(Exception):  # a board that is gone is noticed by the exchange, or as silence of all
                self._store.set(f"alive/{self._rank}", str(beats := beats + 1))
                for other in self._silent:
                    sign = self._store.get(f"alive/{other}") if self._store.check([f"alive/{other}"]) else b""
                    if sign == _LEFT or sign != seen.get(other, b""):
                        seen[other], self._silent[other] = sign, 0.0
            self._stopped.wait(_EVERY)

    def _watch(self) -> None:
        while not self._stopped.wait(_TICK):
            for other in self._silent:
                self._silent[other] += _TICK
                if self._silent[other] >= self._most and not self._stopped.is_set():
                    self._lost(
                        f"process {other} of {self._size} has given no sign of life for {self._most:g} s, so this one "
                        f"ends too; {self._advice}"
                    )
                    return
