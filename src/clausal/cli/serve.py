"""``clausal serve``: trained runs answer over HTTP, to programs and to a browser."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from clausal.cli.inputs import DeviceOption
from clausal.cli.output import say
from clausal.errors import InputError

if TYPE_CHECKING:
    from clausal.evaluation.index import VectorIndex


def serve(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN", help="Run directories; the first is the default.")],
    host: Annotated[str, typer.Option(help="Address to listen on; any but this machine's own needs a token.")] = (
        "127.0.0.1"
    ),
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0 takes a free one.")] = 8000,
    token_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="File with the token that requests must have.")
    ] = None,
    rate: Annotated[float, typer.Option(min=0, help="Requests a second of one client; 0 for any number.")] = 5000,
    seconds: Annotated[float, typer.Option(min=0.1, help="The longest time for one request.")] = 30,
    body: Annotated[int, typer.Option(min=1, help="The largest body of a request, in MiB.")] = 32,
    connections: Annotated[int, typer.Option(min=1, help="The most open connections.")] = 1000,
    threads: Annotated[int, typer.Option(min=1, help="Threads of one matrix product.")] = 1,
    index: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help="Find answers of the run that it was made of by this index (clausal index); some may be missed. "
            "Can be given again for other runs.",
        ),
    ] = None,
    device: DeviceOption = "auto",
) -> None:
    """Serve trained runs over HTTP: answers, proofs, clauses and certificates."""
    try:
        import fastapi  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError:
        raise InputError("the service needs FastAPI and uvicorn: pip install 'clausal[serve]'") from None
    from clausal.serve.limits import Limits
    from clausal.serve.runs import Runs
    from clausal.serve.security import check_host, read_token
    from clausal.serve.server import listen, run_server
    from clausal.serve.service import Service

    token = None if token_file is None else read_token(token_file)
    check_host(host, token)
    limits = Limits(rate=rate, seconds=seconds, body=body << 20, connections=connections)
    service = Service(Runs(runs, device, _read(index or [])), limits)
    listening = listen(host, port)
    shown = f"[{host}]" if ":" in host else host
    address = f"http://{shown}:{listening.getsockname()[1]}"

    def started() -> None:
        print(address, flush=True)
        say(f"serving {', '.join(service.runs.paths)}; Ctrl-C ends it")

    run_server(service, listening, host=host, token=token, started=started, threads=threads)
    if service.is_working:  # all requests are answered, and Python would wait for its threads, however long they take
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)


def _read(paths: list[Path]) -> dict[Path, VectorIndex]:
    if not paths:
        return {}
    from clausal.run.indexing import read_index

    return {path: read_index(path) for path in paths}
