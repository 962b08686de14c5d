"""Errors as RFC 9457 has them: ``application/problem+json``, with what is wrong and what to do."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

CONTENT_TYPE = "application/problem+json"
_MOST_ERRORS = 20


class Problem(Exception):  # noqa: N818, the word of RFC 9457
    """A request that is refused: the status, what is wrong and what to do about it."""

    def __init__(self, status: int, detail: str, *, retry_after: float | None = None, **more: Any) -> None:
        super().__init__(detail)
        self.status, self.detail, self.retry_after, self.more = status, detail, retry_after, more

    def body(self) -> bytes:
        """Return the problem as JSON."""
        return json.dumps(
            {
                "type": "about:blank",
                "title": HTTPStatus(self.status).phrase,
                "status": self.status,
                "detail": self.detail,
                **self.more,
            },
            ensure_ascii=False,
        ).encode("utf-8", "replace")

    def headers(self) -> dict[str, str]:
        """Return the headers that go with it; a client may try again after ``Retry-After`` seconds."""
        found = {"content-type": CONTENT_TYPE}
        if self.retry_after is not None:
            found["retry-after"] = str(max(1, math.ceil(self.retry_after)))
        return found


def overloaded(what: str) -> Problem:
    """Return the problem of a service that has too much to do."""
    return Problem(503, f"{what}; try again after a second", retry_after=1)


def too_slow(seconds: float) -> Problem:
    """Return the problem of a request that took too long."""
    return Problem(503, f"the request took longer than {seconds:g} seconds; ask for less at a time", retry_after=5)


def without_paths(text: str, hidden: Mapping[str, str]) -> str:
    """Return a message without paths of the host: those of runs give way to their names, others to their last part.

    Names of entities may look like paths, so only those that are given in ``hidden`` are sought.
    """
    for path, name in hidden.items():
        text = text.replace(path, name)
    return text


RESPONSES: dict[int | str, dict[str, Any]] = {
    status: {
        "description": description,
        "content": {
            CONTENT_TYPE: {
                "schema": {"$ref": "#/components/schemas/Problem"},
                "example": {
                    "type": "about:blank",
                    "title": HTTPStatus(status).phrase,
                    "status": status,
                    "detail": example,
                },
            }
        },
    }
    for status, description, example in (
        (400, "The request cannot be read.", "the body is no JSON: Expecting value at character 1"),
        (401, "The token is missing or wrong.", "send the token of the service: Authorization: Bearer TOKEN"),
        (403, "The host is not that of the service.", "this service answers to localhost"),
        (404, "There is no such run, name or job.", "unknown entity 'Spian'; did you mean 'Spain'?"),
        (405, "The path has other methods.", "use POST"),
        (409, "The run cannot answer this.", "the run was trained without clauses"),
        (413, "The body is too large.", "the body has more than 33554432 bytes; send less at a time"),
        (415, "The body is not JSON.", "send JSON: Content-Type: application/json"),
        (422, "The request is not as it should be.", "k: Input should be greater than or equal to 1"),
        (429, "The client asks too often.", "more than 5000 requests a second; try again after a second"),
        (431, "The head of the request is too large.", "the head of the request is too large; send less"),
        (503, "The service has too much to do.", "1024 questions wait already; try again after a second"),
    )
}


def invalid_problem(errors: Sequence[Mapping[str, Any]]) -> Problem:
    """Return the problem of a request that is not as it should be: what pydantic found, each with its place."""
    if any(error["type"] == "json_invalid" for error in errors):
        return Problem(400, "the body is no JSON: " + str(errors[0].get("ctx", {}).get("error", "it cannot be read")))
    found = []
    for error in errors[:_MOST_ERRORS]:
        place = ".".join(str(part)[:100] for part in error["loc"] if part not in ("body", "query", "path"))
        found.append({"place": place, "what": str(error["msg"])})
    detail = "; ".join(f"{one['place']}: {one['what']}" if one["place"] else one["what"] for one in found[:3])
    return Problem(422, detail, errors=found)
