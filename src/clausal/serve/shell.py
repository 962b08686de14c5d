"""What stands around every request: limits, the guard, headers, problems, and figures.

It is plain ASGI, as each request passes it, and the body is read here, whole and within limits.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import quote

import clausal
from clausal.errors import InputError, RunError, is_out_of_memory
from clausal.serve.limits import Rate
from clausal.serve.problems import Problem, overloaded, too_slow
from clausal.serve.security import HEADERS, Guard
from clausal.serve.service import Service

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]
Lean = Callable[[bytes], Awaitable[bytes]]

_LOG = logging.getLogger("clausal.serve")
_JSON = (b"content-type", b"application/json")
_VERSION = (b"clausal-version", clausal.__version__.encode("ascii"))
_API = (b"clausal-api", b"1")
_NOT_STORED = (b"cache-control", b"no-store")
_OPEN = ("/health/live", "/health/ready")


class Shell:
    """Wraps an application. ``lean`` answers some paths by themselves: a JSON body in, a JSON body out."""

    def __init__(self, app: App, service: Service, guard: Guard, lean: dict[str, Lean]) -> None:
        self._app, self._service, self._guard, self._lean = app, service, guard, lean
        self._rate = Rate(service.limits.rate)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request; only HTTP is spoken."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        metrics = self._service.metrics
        started, response = time.perf_counter(), _Response(scope, send)
        metrics.in_flight += 1
        try:
            try:
                async with asyncio.timeout(self._service.limits.seconds):
                    await self._answer(scope, receive, response)
            except TimeoutError:
                raise too_slow(self._service.limits.seconds) from None
        except Exception as error:
            if response.status is None:
                await response.refuse(self.problem(error))
            elif response.status != 500:  # which is answered and in the log already
                raise
        finally:
            metrics.in_flight -= 1
            route = _route(scope)
            metrics.request(_method(scope), route, response.status or 0, time.perf_counter() - started)

    async def _answer(self, scope: Scope, receive: Receive, response: _Response) -> None:
        service, path = self._service, scope["path"]
        headers = dict(scope["headers"])
        open_path = path in _OPEN
        self._guard.check(headers, needs_token=path.startswith("/v1") or path == "/metrics")
        if not open_path:
            client = scope.get("client")
            wait = self._rate.wait(client[0] if client else "")
            if wait:
                raise Problem(
                    429,
                    f"more than {service.limits.rate:g} requests a second; try again after a second",
                    retry_after=wait,
                )
            if service.metrics.in_flight > service.limits.in_flight:
                raise overloaded(f"{service.limits.in_flight} requests are being worked on")
        body = b""
        if scope["method"] in ("POST", "PUT", "PATCH", "DELETE"):
            body = await self._read(headers, receive)
            if body and headers.get(b"content-type", b"").split(b";")[0].strip().lower() != b"application/json":
                raise Problem(415, "send JSON: Content-Type: application/json")
        lean = self._lean.get(path) if scope["method"] == "POST" else None
        if lean is not None:
            scope["route"] = path
            await response.json(await lean(body))
            return
        await self._app(scope, _Replay(body, receive), response.send)

    async def _read(self, headers: dict[bytes, bytes], receive: Receive) -> bytes:
        """Read a body, up to the limit."""
        most = self._service.limits.body
        announced = headers.get(b"content-length", b"0")
        if announced.isdigit() and int(announced[:20]) > most:
            raise _too_large(most)
        parts, size = [], 0
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise Problem(400, "the body ended early")
            part = message.get("body", b"")
            size += len(part)
            if size > most:
                raise _too_large(most)
            parts.append(part)
            if not message.get("more_body", False):
                return b"".join(parts)

    def problem(self, error: Exception) -> Problem:
        """Return an error as a problem, without paths of the host."""
        if isinstance(error, Problem):
            return error
        if isinstance(error, InputError):
            return Problem(422, self._service.runs.plain(str(error)))
        if isinstance(error, RunError):
            return Problem(409, self._service.runs.plain(str(error)))
        if is_out_of_memory(error):
            return overloaded("not enough memory")
        _LOG.error("internal error", exc_info=error)
        return Problem(500, "internal error; the log of the service says more")


class _Response:
    """Sends an answer with the headers that every answer has."""

    def __init__(self, scope: Scope, send: Send) -> None:
        self._scope, self._send = scope, send
        self.status: int | None = None

    async def send(self, message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = list(message.get("headers", ()))
            if all(name != b"cache-control" for name, _ in headers):
                headers.append(_NOT_STORED)
            headers += [_VERSION, _API, *HEADERS]
            message = {**message, "headers": headers}
        await self._send(message)

    async def json(self, body: bytes) -> None:
        self.status = 200
        headers = [_JSON, (b"content-length", b"%d" % len(body)), _NOT_STORED, _VERSION, _API, *HEADERS]
        await self._send({"type": "http.response.start", "status": 200, "headers": headers})
        await self._send({"type": "http.response.body", "body": body})

    async def refuse(self, problem: Problem) -> None:
        body = b"" if self._scope["method"] == "HEAD" else problem.body()
        headers = [(name.encode(), value.encode("latin-1")) for name, value in problem.headers().items()]
        headers += [(b"content-length", b"%d" % len(body))]
        if problem.status in (400, 413, 503) and self._scope["method"] != "GET":
            headers.append((b"connection", b"close"))  # what is left of a body is not read
        await self.send({"type": "http.response.start", "status": problem.status, "headers": headers})
        await self._send({"type": "http.response.body", "body": body})


class _Replay:
    """Gives an application a body that was read before."""

    def __init__(self, body: bytes, receive: Receive) -> None:
        self._body: bytes | None = body
        self._receive = receive

    async def __call__(self) -> MutableMapping[str, Any]:
        if self._body is not None:
            body, self._body = self._body, None
            return {"type": "http.request", "body": body, "more_body": False}
        return await self._receive()


def _too_large(most: int) -> Problem:
    return Problem(413, f"the body has more than {most} bytes; send less at a time")


def _method(scope: Scope) -> str:
    return scope["method"] if scope["method"] in ("GET", "HEAD", "POST", "DELETE", "OPTIONS", "PUT") else "other"


def _route(scope: Scope) -> str:
    """Return the path of a route without its values, so that there are few."""
    route = scope.get("route")
    if isinstance(route, str):
        return route
    path = getattr(route, "path", None)
    return path if isinstance(path, str) else "other"


def run_header(name: str, digest: str) -> tuple[str, str]:
    """Return the header that says by which state of which run an answer was made."""
    return "clausal-run", f"{quote(name)}; {digest}"
