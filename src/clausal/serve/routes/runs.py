"""The runs: what they are, and how their training went."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Query, Response

import clausal
from clausal.serve.responses import LogAnswer, RunAnswer, RunsAnswer
from clausal.serve.routes.common import TheRun, TheService, answer, described, worked
from clausal.serve.runs import ServedRun, read_log

router = APIRouter(tags=["runs"])


def _summary(served: ServedRun) -> dict[str, Any]:
    graph = served.directory.graph
    return {
        "name": served.name,
        "digest": served.digest,
        "finished": served.finished,
        "graph": graph.name,
        "entities": len(graph.entities),
        "relations": len(graph.relations),
        "facts": {name: len(facts) for name, facts in graph.splits.items()},
        "clauses": len(served.directory.clauses),
    }


def _without_folders(settings: dict[str, Any]) -> dict[str, Any]:
    """Leave of files that settings name their last part: where they lie is the host's business."""
    for name in ("pretrained", "pretrained_names"):
        if settings["model"].get(name):
            settings["model"][name] = Path(settings["model"][name]).name
    return settings


@router.get("/v1/runs", summary="The runs of this service", responses=described(RunsAnswer))
async def list_runs(service: TheService) -> Response:
    """List the runs; the first is asked where a request names none."""
    found = await service.work(lambda: [_summary(served) for served in service.runs])
    return answer(None, {"version": clausal.__version__, "runs": found})


@router.get("/v1/run", summary="One run", responses=described(RunAnswer, 404))
async def show_run(served: TheRun, service: TheService) -> Response:
    """Tell what a run is: its graph, model, settings, what training measured, and how it can be asked."""

    def describe() -> dict[str, Any]:
        settings = served.directory.settings
        about = _summary(served) | {
            "version": clausal.__version__,
            "trained_by": served.directory.about.get("clausal"),
            "scorer": settings.model.scorer,
            "dim": settings.model.dim,
            "settings": _without_folders(settings.model_dump(mode="json")),
        }
        if not served.finished:
            return about | {"calibrated": None, "rankings": [], "metrics": None, "derived": None}
        closure = served.statuses.all
        return about | {
            "calibrated": served.run.calibration is not None,
            "rankings": served.rankings,
            "metrics": served.run.metrics,
            "derived": None if closure is None else len(closure.closure.derived),
        }

    return await worked(service, served, describe)


@router.get("/v1/run/log", summary="The learning curve", responses=described(LogAnswer, 404))
async def show_log(
    served: TheRun,
    service: TheService,
    after: Annotated[int, Query(ge=-1, description="Only epochs after this one.")] = -1,
) -> Response:
    """Return the records of the epochs; while a training goes on, ask again with ``after``."""
    return await worked(service, served, read_log, served, after)
