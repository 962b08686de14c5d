"""What routes share: the service, the run that is asked, and answers as JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Annotated, Any

from fastapi import Depends, Query, Request, Response
from pydantic import BaseModel

from clausal.serve.problems import RESPONSES
from clausal.serve.responses import JobBegun
from clausal.serve.runs import ServedRun
from clausal.serve.service import Service
from clausal.serve.shell import run_header


def service_of(request: Request) -> Service:
    """Return the service of a request."""
    service: Service = request.app.state.service
    return service


TheService = Annotated[Service, Depends(service_of)]
RunName = Annotated[str | None, Query(description="The run; the first by default.", max_length=200)]
EntityName = Annotated[str, Query(description="The entity's full name.", max_length=2_000)]


def served_run(service: TheService, run: RunName = None) -> ServedRun:
    """Return the run that a request names."""
    return service.runs.get(run)


TheRun = Annotated[ServedRun, Depends(served_run)]


def described(model: type[BaseModel], *statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return what a route answers and can refuse, for its description."""
    success: dict[int | str, dict[str, Any]] = {
        202 if model is JobBegun else 200: {"model": model, "description": (model.__doc__ or "").strip()}
    }
    return success | {status: RESPONSES[status] for status in statuses}


def dumped(payload: object) -> bytes:
    """Return a payload as JSON."""
    return json.dumps(payload, separators=(",", ":")).encode("ascii")


def answer(served: ServedRun | None, payload: object, status: int = 200, **headers: str) -> Response:
    """Return a payload as an answer of a run; one that is bytes is JSON already."""
    if served is not None:
        name, value = run_header(served.name, served.digest)
        headers[name] = value
    body = payload if isinstance(payload, bytes) else dumped(payload)
    return Response(body, status, headers, media_type="application/json")


async def worked(
    service: Service, served: ServedRun | None, function: Callable[..., object], *arguments: object
) -> Response:
    """Return as an answer what a function returns in a thread, where it is written as JSON too."""
    return answer(served, await service.work(lambda: dumped(function(*arguments))))
