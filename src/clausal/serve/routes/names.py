"""Entities and relations, as they are typed."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Response

from clausal.serve.names import NameSearch
from clausal.serve.responses import EntitiesAnswer, RelationsAnswer
from clausal.serve.routes.common import TheRun, TheService, described, worked
from clausal.serve.runs import ServedRun

router = APIRouter(tags=["names"])
Typed = Annotated[str, Query(description="The beginning or any part of a name; all without it.", max_length=1_000)]
Limit = Annotated[int, Query(ge=1, le=1_000)]
Offset = Annotated[int, Query(ge=0, le=1_000_000_000)]


def _found(served: ServedRun, kind: str, q: str, limit: int, offset: int) -> dict[str, Any]:
    search: NameSearch = getattr(served.names, kind)
    ids, total = search.find(q, limit, offset)
    names = [served.names.described(kind, search.names[id]) | {"facts": int(search.counts[id])} for id in ids]
    return {"run": served.name, kind: names, "total": total}


@router.get("/v1/entities", summary="Search for entities", responses=described(EntitiesAnswer, 404, 409))
async def entities(
    served: TheRun, service: TheService, q: Typed = "", limit: Limit = 20, offset: Offset = 0
) -> Response:
    """Find entities as they are typed: equal names first, then those that begin so, then those with a part like it."""
    return await worked(service, served, _found, served, "entities", q, limit, offset)


@router.get("/v1/relations", summary="Search for relations", responses=described(RelationsAnswer, 404, 409))
async def relations(
    served: TheRun, service: TheService, q: Typed = "", limit: Limit = 20, offset: Offset = 0
) -> Response:
    """Find relations as they are typed."""
    return await worked(service, served, _found, served, "relations", q, limit, offset)
