"""Figures of the service, as Prometheus reads them."""

from __future__ import annotations

import os
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping
from threading import Lock

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_SIZES = (1, 2, 4, 8, 16, 32, 64, 128)


class _Histogram:
    def __init__(self, edges: tuple[float, ...]) -> None:
        self.edges, self.counts, self.total = edges, [0] * (len(edges) + 1), 0.0

    def add(self, value: float) -> None:
        self.counts[bisect_left(self.edges, value)] += 1
        self.total += value

    def lines(self, name: str, labels: str = "") -> Iterable[str]:
        together = 0
        for edge, count in zip((*map(str, self.edges), "+Inf"), self.counts, strict=True):
            together += count
            yield f'{name}_bucket{{{labels}{"," if labels else ""}le="{edge}"}} {together}'
        braces = f"{{{labels}}}" if labels else ""
        yield f"{name}_sum{braces} {self.total}"
        yield f"{name}_count{braces} {together}"


class Metrics:
    """Counts requests, batches and refusals. Requests are counted by the event loop, batches by their thread."""

    def __init__(self) -> None:
        self.in_flight = 0
        self._requests: Counter[tuple[str, str, int]] = Counter()
        self._seconds: dict[str, _Histogram] = {}
        self._batches = _Histogram(tuple(map(float, _SIZES)))
        self._lock = Lock()
        self._started = time.time()

    def request(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request that was answered."""
        self._requests[method, route, status] += 1
        if route not in self._seconds:
            self._seconds[route] = _Histogram(_SECONDS)
        self._seconds[route].add(seconds)

    def batch(self, questions: int) -> None:
        """Count a batch."""
        with self._lock:
            self._batches.add(questions)

    def text(self, gauges: Mapping[str, tuple[str, float]]) -> str:
        """Return everything as text; ``gauges`` are values of now, with what they are, by name."""
        lines = ["# HELP clausal_requests_total Requests that were answered.", "# TYPE clausal_requests_total counter"]
        for (method, route, status), count in sorted(self._requests.items()):
            lines.append(f'clausal_requests_total{{method="{method}",route="{route}",status="{status}"}} {count}')
        name = "clausal_request_seconds"
        lines += [f"# HELP {name} Time from a request's head to its answer.", f"# TYPE {name} histogram"]
        for route, histogram in sorted(self._seconds.items()):
            lines += histogram.lines(name, f'route="{route}"')
        name = "clausal_batch_questions"
        lines += [f"# HELP {name} Questions that were answered together.", f"# TYPE {name} histogram"]
        with self._lock:
            lines += self._batches.lines(name)
        gauges = {
            **gauges,
            "clausal_requests_in_flight": ("Requests that are worked on.", self.in_flight),
            "process_resident_memory_bytes": ("Memory of the process.", _resident()),
            "process_start_time_seconds": ("When the service started.", self._started),
        }
        for name, (help, value) in gauges.items():
            lines += [f"# HELP {name} {help}", f"# TYPE {name} gauge", f"{name} {value}"]
        return "\n".join(lines) + "\n"


def _resident() -> int:
    """Return the memory that the process holds now; 0 where the system does not say it."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, AttributeError):
        return 0
