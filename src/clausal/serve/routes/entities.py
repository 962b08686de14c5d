"""One entity: its facts, its neighbours in the graph, and those near to it in the space of vectors."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from clausal.choices import Metric
from clausal.serve import around
from clausal.serve.problems import Problem
from clausal.serve.responses import EntityAnswer, FactsAnswer, NearestAnswer, NeighboursAnswer
from clausal.serve.routes.common import EntityName, TheRun, TheService, described, worked
from clausal.serve.runs import ServedRun

router = APIRouter(tags=["entities"])
K = Annotated[int, Query(ge=1, le=1_000)]
Limit = Annotated[int, Query(ge=1, le=10_000)]


def _id(served: ServedRun, name: str) -> int:
    names = served.run.graph.entities
    if name not in names:
        raise Problem(404, f"no entity '{name[:200]}'; search for it: /v1/entities?q=")
    return names.id(name)


@router.get("/v1/entity", summary="An entity and its facts", responses=described(EntityAnswer, 404, 409))
async def entity(served: TheRun, service: TheService, name: EntityName, limit: Limit = 1_000) -> Response:
    """Return what the graph has and what train entails of an entity, known facts first."""
    return await worked(service, served, lambda: around.facts_of(served, _id(served, name), limit))


@router.get("/v1/entity/predicted", summary="Predictions for an entity", responses=described(FactsAnswer, 404, 409))
async def predicted(served: TheRun, service: TheService, name: EntityName, k: K = 20) -> Response:
    """Return the best new facts of an entity that neither the graph has nor train entails, over its relations."""
    return await worked(service, served, lambda: around.predicted_of(served, _id(served, name), k))


@router.get(
    "/v1/entity/neighbours", summary="The graph around an entity", responses=described(NeighboursAnswer, 404, 409)
)
async def neighbours(
    served: TheRun,
    service: TheService,
    name: EntityName,
    limit: Annotated[int, Query(ge=1, le=150, description="The most entities.")] = 50,
) -> Response:
    """Return the facts between an entity and its neighbours, known and entailed, and those among them."""
    return await worked(service, served, lambda: around.neighbours_of(served, _id(served, name), limit))


@router.get("/v1/entity/nearest", summary="Similar entities", responses=described(NearestAnswer, 404, 409))
async def nearest(
    served: TheRun, service: TheService, name: EntityName, k: K = 10, metric: Metric = "cosine"
) -> Response:
    """Return the entities whose vectors are nearest."""
    return await worked(service, served, lambda: around.nearest_to(served, _id(served, name), k, metric))
