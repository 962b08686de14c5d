"""Clauses, what they count in the graph, and their certificates."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Response

from clausal.serve import rules
from clausal.serve.responses import ClausesAnswer, OneClauseAnswer
from clausal.serve.routes.common import TheRun, TheService, described, worked

router = APIRouter(tags=["logic"])


@router.get("/v1/clauses", summary="The clauses of a run", responses=described(ClausesAnswer, 404, 409))
async def clauses(served: TheRun, service: TheService) -> Response:
    """Return the clauses with confidence, support and exceptions in train, and their newest certificates."""
    return await worked(service, served, rules.all_clauses, served)


@router.get("/v1/clauses/{number}", summary="One clause", responses=described(OneClauseAnswer, 404, 409))
async def clause(served: TheRun, service: TheService, number: Annotated[int, Path(ge=0, le=1_000_000_000)]) -> Response:
    """Return a clause with examples of where it fails in train, and of what it entails."""
    return await worked(service, served, rules.one_clause, served, number)
