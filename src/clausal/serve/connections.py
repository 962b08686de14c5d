"""Connections within limits: how many, how long and how large a request's head, and how slow a reader."""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from clausal.serve.limits import Limits

_HEAD_BYTES = 64 << 10
_HEAD_SECONDS = 10.0
_STALLED_SECONDS = 20.0


def guarded(limits: Limits) -> type[asyncio.Protocol]:
    """Return the protocol of connections within limits."""

    class Guarded(HttpToolsProtocol):
        """Closes a connection that is one too many, whose client sends no request, or does not read its answer."""

        _timer: asyncio.TimerHandle | None = None
        _head = 0

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            if len(self.connections) > limits.connections:
                self._refuse(503, b"too many connections; try again after a second")
                return
            self._wait(_HEAD_SECONDS)

        def connection_lost(self, exc: Exception | None) -> None:
            self._wait(None)
            super().connection_lost(exc)

        def data_received(self, data: bytes) -> None:
            if self.transport.is_closing():
                return
            if self._head >= 0:
                self._head += len(data)
                if self._timer is None:
                    self._wait(_HEAD_SECONDS)
            super().data_received(data)
            if self._head > _HEAD_BYTES:
                self._refuse(431, b"the head of the request is too large; send less")

        def on_headers_complete(self) -> None:
            self._head = -1  # the body is limited by the application
            self._wait(None)
            super().on_headers_complete()

        def on_message_complete(self) -> None:
            self._head = 0
            super().on_message_complete()

        def pause_writing(self) -> None:
            super().pause_writing()
            self._wait(_STALLED_SECONDS)

        def resume_writing(self) -> None:
            self._wait(None)
            super().resume_writing()

        def send_400_response(self, msg: str) -> None:
            self._refuse(400, b"this is no request of HTTP/1.1 that can be read")

        def _wait(self, seconds: float | None) -> None:
            """Close the connection after some seconds, unless this is called again."""
            if self._timer is not None:
                self._timer.cancel()
            self._timer = None if seconds is None else self.loop.call_later(seconds, self._give_up)

        def _give_up(self) -> None:
            self._timer = None
            self.transport.abort()

        def _refuse(self, status: int, what: bytes) -> None:
            if not self.transport.is_closing():
                self.transport.write(
                    b"HTTP/1.1 %d %s\r\ncontent-type: application/problem+json\r\n"
                    b"%sconnection: close\r\ncontent-length: %d\r\n\r\n%s" % _problem(status, what)
                )
                self.transport.close()

    return Guarded


def _problem(status: int, what: bytes) -> tuple[Any, ...]:
    title = HTTPStatus(status).phrase.encode()
    body = b'{"type":"about:blank","title":"%s","status":%d,"detail":"%s"}' % (title, status, what)
    return status, title, b"retry-after: 1\r\n" if status == 503 else b"", len(body), body
