"""The OpenAPI document: what FastAPI knows of the routes, and what the shell adds to them."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

_PROBLEM = {
    "title": "Problem",
    "description": "What is wrong, and what to do (RFC 9457).",
    "type": "object",
    "required": ["type", "title", "status", "detail"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "errors": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"place": {"type": "string"}, "what": {"type": "string"}},
            },
        },
    },
}


def describe(app: FastAPI) -> None:
    """Let an application describe itself, with problems and the token."""

    def document() -> dict[str, Any]:
        if app.openapi_schema is None:
            found = get_openapi(title=app.title, version=app.version, summary=app.summary, routes=app.routes)
            parts = found.setdefault("components", {})
            schemas = parts.setdefault("schemas", {})
            schemas["Problem"] = _PROBLEM
            for unused in ("HTTPValidationError", "ValidationError"):
                schemas.pop(unused, None)
            parts["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
            found["security"] = [{}, {"token": []}]
            app.openapi_schema = found
        return app.openapi_schema

    app.openapi = document  # type: ignore[method-assign]
