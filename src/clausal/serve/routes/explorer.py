"""What the explorer asks beside all others: where to start, some facts of a relation, where a clause is broken."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query, Response

from clausal.serve.explorer_responses import RelationAnswer, SuggestionsAnswer, ViolationsAnswer
from clausal.serve.routes.common import TheRun, TheService, described, worked
from clausal.serve.samples import facts_of_relation
from clausal.serve.suggestions import suggestions as suggest
from clausal.serve.violations import violations as find_violations

router = APIRouter(tags=["logic"])


@router.get("/v1/relation", summary="A relation and some of its facts", responses=described(RelationAnswer, 404, 409))
async def relation(
    served: TheRun,
    service: TheService,
    name: Annotated[str, Query(description="The relation's full name.", max_length=10_000)],
    limit: Annotated[int, Query(ge=1, le=1_000)] = 20,
) -> Response:
    """Return facts of a relation, evenly chosen among those that the graph has."""
    return await worked(service, served, facts_of_relation, served, name, limit)


@router.get("/v1/suggestions", summary="What to try", responses=described(SuggestionsAnswer, 404, 409))
async def suggestions(served: TheRun, service: TheService) -> Response:
    """Return facts that train lacks and that follow, by each way to prove one in turn: a place to start."""
    return await worked(service, served, suggest, served, list(service.runs))


@router.get(
    "/v1/clauses/{number}/violations",
    summary="Where a clause is broken",
    responses=described(ViolationsAnswer, 404, 409),
)
async def violations(
    served: TheRun, service: TheService, number: Annotated[int, Path(ge=0, le=1_000_000_000)]
) -> Response:
    """Return by how much the model breaks a clause where train has its body, and the worst instances."""
    return await worked(service, served, find_violations, served, number)
