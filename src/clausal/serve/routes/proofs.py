"""Proofs."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Response

from clausal.serve.proving import prove as prove_fact
from clausal.serve.questions import read_fact
from clausal.serve.requests import ProveBody
from clausal.serve.responses import ProveAnswer
from clausal.serve.routes.common import TheService, described, worked

router = APIRouter(tags=["logic"])


@router.post("/v1/prove", summary="Prove a fact", responses=described(ProveAnswer, 400, 404, 409, 413, 415))
async def prove(asked: ProveBody, service: TheService) -> Response:
    """Return the shortest proof of a fact from train, or what nearly supports it and which facts are missing."""
    served = service.runs.get(asked.run)

    def work() -> dict[str, Any]:
        return prove_fact(served, read_fact(asked.fact, served.run.graph), asked.most)

    return await worked(service, served, work)
