"""Whether the service lives, is ready, and what it has done."""

from __future__ import annotations

from fastapi import APIRouter, Response

from clausal.serve.metrics import CONTENT_TYPE
from clausal.serve.problems import Problem
from clausal.serve.responses import Live, Ready
from clausal.serve.routes.common import TheService, answer, described

router = APIRouter(tags=["health"])


@router.get("/health/live", summary="Whether the process answers", responses=described(Live))
async def live() -> Response:
    """Answer: the process lives."""
    return answer(None, {"status": "live"})


@router.get("/health/ready", summary="Whether to send requests here", responses=described(Ready, 503))
async def ready(service: TheService) -> Response:
    """Answer whether requests are welcome: not while the service ends."""
    if service.draining:
        raise Problem(503, "the service is about to end; ask another", retry_after=5)
    return answer(None, {"status": "ready", "runs": [served.name for served in service.runs]})


@router.get("/metrics", summary="Figures for Prometheus", response_class=Response)
async def metrics(service: TheService) -> Response:
    """Return figures of requests, batches and memory."""
    gauges = {
        "clausal_questions_waiting": ("Questions that wait for a batch.", service.batcher.waiting),
        "clausal_runs": ("Runs that are served.", len(list(service.runs))),
        "clausal_reloads": ("Runs that were loaded again.", service.runs.reloads),
    }
    return Response(service.metrics.text(gauges), media_type=CONTENT_TYPE)
