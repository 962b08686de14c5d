"""The process: a socket, an event loop, and an end that finishes what was begun."""

from __future__ import annotations

import contextlib
import logging
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from typing import Any

import torch
import uvicorn

from clausal.errors import RunError
from clausal.serve.app import make_app
from clausal.serve.connections import guarded
from clausal.serve.service import Service

_SWITCH_SECONDS = 0.001
"""How long a thread keeps the interpreter from others: with 5 ms, the default, answers wait for batches."""


class _Server(uvicorn.Server):
    """Ends by a signal as one that was asked to: it stops to listen, answers what was asked, and returns."""

    def __init__(self, config: uvicorn.Config, service: Service, started: Callable[[], None]) -> None:
        super().__init__(config)
        self._service, self._tell = service, started

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        signals = (signal.SIGINT, signal.SIGTERM)
        before = {one: signal.signal(one, self.handle_exit) for one in signals}
        try:
            yield
        finally:
            for one, handler in before.items():
                signal.signal(one, handler)

    def handle_exit(self, sig: int, frame: Any) -> None:
        self._service.draining = True
        super().handle_exit(sig, frame)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._tell()


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens; port 0 takes a free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=1024)
    except OSError as error:
        raise RunError(
            f"cannot listen on {host} port {port}: {error.strerror or error}; choose another --port"
        ) from None


def run_server(
    service: Service,
    listening: socket.socket,
    *,
    host: str,
    token: bytes | None = None,
    started: Callable[[], None] = lambda: None,
    drain_seconds: int = 30,
    threads: int = 1,
) -> None:
    """Serve until a signal asks to end; requests that were begun by then are answered."""
    torch.set_num_threads(threads)
    sys.setswitchinterval(_SWITCH_SECONDS)
    logging.getLogger("uvicorn.error").setLevel(logging.ERROR)
    config = uvicorn.Config(
        make_app(service, token=token, host=host),
        http=guarded(service.limits),
        ws="none",
        access_log=False,
        log_config=None,
        server_header=False,
        timeout_keep_alive=60,
        timeout_graceful_shutdown=drain_seconds,
        proxy_headers=False,
    )
    _Server(config, service, started).run([listening])
