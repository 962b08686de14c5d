"""The application: routes, problems, static files, and the shell around them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException

import clausal
from clausal.serve import openapi
from clausal.serve.problems import RESPONSES, Problem, invalid_problem
from clausal.serve.routes import certify, clauses, entities, explorer, health, names, proofs, questions, runs, what_if
from clausal.serve.routes.questions import Predict
from clausal.serve.security import Guard
from clausal.serve.service import Service
from clausal.serve.shell import Shell

STATIC = Path(__file__).with_name("static")


def make_app(service: Service, *, token: bytes | None = None, host: str = "127.0.0.1") -> Shell:
    """Return the ASGI application of a service."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        service.start()
        yield
        service.stop()

    app = FastAPI(
        title="clausal",
        summary="Link predictions that obey clauses, with proofs and certificates.",
        version=clausal.__version__,
        lifespan=lifespan,
        openapi_url="/v1/openapi.json",
        docs_url=None,  # the pages of FastAPI load scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,
        responses={status: RESPONSES[status] for status in (400, 401, 403, 422, 429, 431, 503)},
    )
    app.state.service = service
    for router in (runs, questions, names, entities, proofs, clauses, explorer, what_if, certify, health):
        app.include_router(router.router)
    openapi.describe(app)
    _mount_static(app)
    shell = Shell(app, service, Guard(token, host), {"/v1/predict": Predict(service)})
    _explain_problems(app, shell)
    return shell


def _mount_static(app: FastAPI) -> None:
    """Serve the explorer: its page at /, what it loads under /static."""

    async def page(_: Request) -> Response:
        return FileResponse(STATIC / "index.html", headers={"cache-control": "no-cache"})

    app.add_api_route("/", page, include_in_schema=False)
    app.mount("/static", StaticFiles(directory=STATIC), name="static")


def _explain_problems(app: FastAPI, shell: Shell) -> None:
    """Say everything that goes wrong inside the application as a problem."""

    def refuse(problem: Problem) -> Response:
        return Response(problem.body(), problem.status, problem.headers())

    async def invalid(_: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        return refuse(invalid_problem(error.errors()))

    async def http(_: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        response = refuse(Problem(error.status_code, _what(error)))
        response.headers.update(dict(error.headers or {}))
        return response

    async def other(_: Request, error: Exception) -> Response:
        return refuse(shell.problem(error))

    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(HTTPException, http)
    for kind in (Problem, clausal.ClausalError, Exception):
        app.add_exception_handler(kind, other)


def _what(error: HTTPException) -> str:
    if error.status_code == 404:
        return "nothing here; /v1/openapi.json says what there is"
    if error.status_code == 405:
        return f"use {(error.headers or {}).get('Allow', 'another method')}"
    return str(error.detail)
