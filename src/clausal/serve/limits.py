"""What one request, one client and the whole process may take."""

from __future__ import annotations

import time
from collections import OrderedDict
from dataclasses import dataclass

_MOST_CLIENTS = 10_000
"""Addresses whose rate is remembered; the one that was quiet longest is forgotten first."""


@dataclass(frozen=True)
class Limits:
    """The limits of a service. Beyond them a request is refused, and told what to do."""

    body: int = 32 << 20
    """Bytes of a request's body."""
    seconds: float = 30.0
    """For one request, from its first byte to its answer."""
    rate: float = 5_000.0
    """Requests a second of one client, on average; 0 for any number."""
    in_flight: int = 512
    """Requests that are worked on at a time."""
    waiting: int = 1_024
    """Questions that wait for a batch."""
    threads: int = 4
    """Threads for what is no question to the model: proofs, closures, scores, searches."""
    connections: int = 1_000
    """Open connections."""
    facts: int = 100_000
    """Facts of one request for scores."""
    questions: int = 1_000
    """Questions of one request."""
    answers: int = 1_000
    """Answers to a question."""
    explained: int = 50
    """Answers that are explained in one request."""
    closure: int = 20_000_000
    """Facts of a closure."""


class Rate:
    """Buckets of tokens by client: each holds what a second gives, and a request takes one."""

    def __init__(self, per_second: float) -> None:
        self._rate = per_second
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait(self, client: str, now: float | None = None) -> float:
        """Take a token of a client; return 0, or the seconds until there will be one."""
        if not self._rate:
            return 0.0
        now = time.monotonic() if now is None else now
        most = max(1.0, self._rate)
        left, since = self._buckets.pop(client, (most, now))
        left = min(most, left + (now - since) * self._rate)
        allowed = left >= 1
        self._buckets[client] = (left - 1 if allowed else left, now)
        if len(self._buckets) > _MOST_CLIENTS:
            self._buckets.popitem(last=False)
        return 0.0 if allowed else (1 - left) / self._rate
