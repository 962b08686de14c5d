"""The client: keep-alive connections on which requests begin by the clock, whether or not answers came.

    python -m load.client PORT RATE SECONDS CONNECTIONS ENTITIES

A request that finds all connections busy waits, and its time counts from when it was due. Prints one JSON object.
"""

from __future__ import annotations

import asyncio
import gc
import json
import random
import sys
import time
from collections import deque


class Connection(asyncio.Protocol):
    """Sends one request at a time and says when its answer is there."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._got = b""
        self.due = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport
        self._client.free.append(self)

    def ask(self, request: bytes, due: float) -> None:
        """Send a request that was due at a time."""
        self.due = due
        self.transport.write(request)  # type: ignore[attr-defined]

    def data_received(self, data: bytes) -> None:
        self._got += data
        end = self._got.find(b"\r\n\r\n")
        if end < 0:
            return
        start = self._got.find(b"content-length: ") + 16
        size = int(self._got[start : self._got.find(b"\r\n", start)])
        if len(self._got) >= end + 4 + size:
            status, self._got = int(self._got[9:12]), self._got[end + 4 + size :]
            self._client.answered(self, status)


class Client:
    """Requests by the clock."""

    def __init__(self, rate: float, seconds: float, entities: int) -> None:
        self.free: deque[Connection] = deque()
        self._waiting: deque[tuple[bytes, float]] = deque()
        self._seconds, self._rate = seconds, rate
        self._times: list[float] = []
        self._statuses: dict[int, int] = {}
        rng = random.Random(0)
        self._requests = [_request(rng, entities) for _ in range(2_000)]

    def answered(self, connection: Connection, status: int) -> None:
        """Take the time of an answer, and send what waits."""
        self._times.append(time.perf_counter() - connection.due)
        self._statuses[status] = self._statuses.get(status, 0) + 1
        if self._waiting:
            connection.ask(*self._waiting.popleft())
        else:
            self.free.append(connection)

    async def run(self, port: int, connections: int) -> dict[str, object]:
        """Ask for some seconds, and return what came of it."""
        loop = asyncio.get_running_loop()
        for _ in range(connections):
            await loop.create_connection(lambda: Connection(self), "127.0.0.1", port)
        gc.disable()
        began, sent = time.perf_counter(), 0
        total = int(self._rate * self._seconds)
        while sent < total:
            now = time.perf_counter()
            while sent < total and began + sent / self._rate <= now:
                request = self._requests[sent % len(self._requests)], began + sent / self._rate
                sent += 1
                if self.free:
                    self.free.popleft().ask(*request)
                else:
                    self._waiting.append(request)
            await asyncio.sleep(max(0.0, began + sent / self._rate - time.perf_counter()))
        for _ in range(300):
            if len(self._times) >= total:
                break
            await asyncio.sleep(0.1)
        times = sorted(self._times)

        def at(share: float) -> float:
            return round(1000 * times[min(len(times) - 1, int(share * len(times)))], 2)

        return {
            "asked": total,
            "answered": len(times),
            "statuses": self._statuses,
            "rate": round(len(times) / (time.perf_counter() - began), 1),
            "p50_ms": at(0.5),
            "p90_ms": at(0.9),
            "p99_ms": at(0.99),
            "max_ms": at(1.0),
        }


def _request(rng: random.Random, entities: int) -> bytes:
    entity, relation = f"entity {rng.randrange(entities)}", f"r{rng.randrange(122)}"
    query = (
        {"subject": entity, "relation": relation} if rng.random() < 0.5 else {"relation": relation, "object": entity}
    )
    body = json.dumps({"queries": [query], "k": 10}).encode()
    head = (
        b"POST /v1/predict HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
    )
    return head % len(body) + body


if __name__ == "__main__":
    port, rate, seconds, connections, entities = map(float, sys.argv[1:])
    print(json.dumps(asyncio.run(Client(rate, seconds, int(entities)).run(int(port), int(connections)))))
