"""Requests to the service: paths, parameters, headers and bodies; an answer is JSON or a problem, and never a 500."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import MutableMapping
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from hypothesis import strategies as st

from clausal.serve.app import make_app
from clausal.serve.limits import Limits
from clausal.serve.runs import Runs
from clausal.serve.service import Service
from fuzzing.base_runs import run_folder
from fuzzing.cases import Case
from fuzzing.damage import changed, changes, long_text, odd_text
from fuzzing.limits import Failure
from fuzzing.targets import Target

_WAIT = 60  # seconds for an answer, in which a busy machine is forgiven
_GETS = [
    "/v1/clauses",
    "/v1/clauses/0",
    "/v1/entities",
    "/v1/relations",
    "/v1/runs",
    "/v1/run",
    "/v1/run/log",
    "/v1/entity",
]
_GETS += [
    "/v1/entity/predicted",
    "/v1/entity/nearest",
    "/v1/relation",
    "/v1/suggestions",
    "/v1/jobs",
    "/v1/jobs/1",
    "/metrics",
]
_GETS += [
    "/",
    "/health/ready",
    "/v1/openapi.json",
    "/static/../app.py",
    "/static/index.html",
    "/v1/entity/around",
    "/v1/x",
]
_names = st.sampled_from(
    ["person 01", "manages", "finished", "described", "http://e/Spain", "0", "-1", "1e9", "9" * 400]
)
_names |= odd_text | long_text
_parameters = st.dictionaries(
    st.sampled_from(["run", "name", "q", "k", "limit", "after", "offset", "relation", "entity", "x", "side"]),
    _names,
    max_size=3,
)
_questions = st.sampled_from(
    ["manages(person 01, ?)", "?(person 01, person 02)", "manages(?, ?)", "manages(person 01, person 02)"]
)
_questions |= odd_text | st.fixed_dictionaries(
    {}, optional={"subject": _names, "relation": _names, "object": st.none() | _names}
)
_facts = st.lists(_names, min_size=3, max_size=3) | st.lists(_names, max_size=4)
_clauses = (
    st.sampled_from(["manages(X, Y) => works_with(X, Y)", "manages(X, Y), manages(Y, Z) => false", "p(X"]) | odd_text
)
_counts = st.sampled_from([0, 1, 3, 10, -1, 10**6, 2**70, 1.5, "3", None, True])
_BODIES: dict[str, dict[str, st.SearchStrategy[Any]]] = {
    "/v1/predict": {"queries": st.lists(_questions, max_size=3), "k": _counts, "new": st.booleans(),
                    "explain": st.booleans(),
                    "ranking": st.sampled_from(["model", "entailed", "rules", "fused", "x"])},
    "/v1/score": {"facts": st.lists(_facts, max_size=3), "ranking": st.sampled_from(["model", "fused"]),
                  "unknown": st.sampled_from(["skip", "refuse", "x"])},
    "/v1/prove": {"fact": _questions, "most": _counts},
    "/v1/certify": {"clauses": st.lists(_counts, max_size=3), "region": st.sampled_from(["auto", "hull", "x"]),
                    "entities": st.booleans(), "semantics": st.sampled_from(["godel", "product", None])},
    "/v1/whatif": {"clauses_off": st.lists(_counts, max_size=2), "clauses_on": st.lists(_clauses, max_size=2),
                   "facts_off": st.lists(_questions, max_size=2), "facts_on": st.lists(_questions, max_size=2),
                   "query": _questions, "k": _counts, "limit": _counts},
}  # fmt: skip


def _body(path: str) -> st.SearchStrategy[dict[str, Any]]:
    (first, strategy), *others = _BODIES[path].items()
    return st.fixed_dictionaries({first: strategy}, optional={"run": _names, "x": _names, **dict(others)})


@st.composite
def _cases(draw: st.DrawFn) -> Case:
    if draw(st.booleans()):
        path, body = draw(st.sampled_from(_GETS)), b""
        method = draw(st.sampled_from(["GET"] * 6 + ["POST", "DELETE", "HEAD", "PUT", "x"]))
    else:
        path = draw(st.sampled_from(sorted(_BODIES)))
        body, method = json.dumps(draw(_body(path))).encode(), "POST"
        if draw(st.integers(0, 2)) == 0:
            body = changed(body, draw(changes))
    headers = {
        "content-type": draw(st.sampled_from(["application/json"] * 4 + ["text/plain", "application/json; charset=x"]))
    }
    headers["host"] = draw(st.sampled_from(["localhost"] * 6 + ["evil.example", "", "[::1"]))
    headers |= draw(
        st.dictionaries(st.sampled_from(["authorization", "origin", "if-none-match", "range"]), odd_text, max_size=1)
    )
    options = {"method": method, "path": path, "query": draw(_parameters), "headers": headers}
    return Case({"body": body}, options)


class _Client:
    """Speaks ASGI to the service, in an event loop of its own."""

    def __init__(self) -> None:
        logging.getLogger("clausal.serve").setLevel(logging.CRITICAL)
        self.loop = asyncio.new_event_loop()
        runs = Runs([run_folder("finished"), run_folder("described"), run_folder("unfinished")], "cpu")
        self.service = Service(runs, Limits(rate=0))
        self.app = make_app(self.service)
        self.loop.run_until_complete(self._start())

    async def _start(self) -> None:
        self.service.start()

    def request(self, case: Case) -> tuple[int, dict[str, str], bytes]:
        """Return status, headers and body of the answer."""
        return self.loop.run_until_complete(asyncio.wait_for(self._request(case), _WAIT))

    async def _request(self, case: Case) -> tuple[int, dict[str, str], bytes]:
        options, sent = case.options, [{"type": "http.request", "body": case.files["body"] or b"", "more_body": False}]
        status, headers, parts = 0, {}, []
        encoded = [(name.encode(), value.encode("utf-8")) for name, value in options["headers"].items()]
        scope = {
            "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": options["method"],
            "path": options["path"], "raw_path": quote(options["path"]).encode(), "root_path": "", "scheme": "http",
            "query_string": urlencode(options["query"]).encode(), "headers": encoded, "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 80),
        }  # fmt: skip

        async def receive() -> MutableMapping[str, Any]:
            return sent.pop() if sent else await asyncio.Event().wait()  # type: ignore[return-value]

        async def send(message: MutableMapping[str, Any]) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers.update({name.decode().lower(): value.decode("latin-1") for name, value in message["headers"]})
            else:
                parts.append(message.get("body", b""))

        await self.app(scope, receive, send)
        return status, headers, b"".join(parts)


client = cache(_Client)


def run(case: Case, folder: Path) -> None:
    """Send a request, and judge the answer."""
    status, headers, body = client().request(case)
    if not 200 <= status < 500 and status != 503:
        raise Failure(f"status {status}: {body[:300]!r}")
    kind = headers.get("content-type", "")
    if status >= 400 and case.options["method"] != "HEAD" and case.options["path"].startswith("/v1"):
        if kind != "application/problem+json":
            raise Failure(f"status {status} is no problem: {kind} {body[:300]!r}")
        if not json.loads(body)["detail"] or len(body) > 20_000:
            raise Failure(f"a problem that cannot be read: {body[:300]!r}")
    if kind == "application/json" and body:
        json.loads(body, parse_constant=_refuse)
    if str(run_folder("finished").parent).encode() in body:
        raise Failure("a path of the machine is told")


def _refuse(word: str) -> None:
    raise Failure(f"{word} is no JSON")


def prepare() -> None:
    """Start the service, and ask it once."""
    for path, values in (("/v1/predict", {"queries": ["manages(person 01, ?)"]}), ("/v1/certify", {})):
        options = {
            "method": "POST",
            "path": path,
            "query": {},
            "headers": {"host": "localhost", "content-type": "application/json"},
        }
        run(Case({"body": json.dumps(values).encode()}, options), Path())


TARGET = Target(_cases(), run, slice=250, prepare=prepare)
