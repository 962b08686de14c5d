"""Certificates on demand, as jobs."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Response

from clausal.observer import Observer
from clausal.serve.problems import Problem
from clausal.serve.requests import CertifyBody
from clausal.serve.responses import JobAnswer, JobBegun, JobsAnswer
from clausal.serve.routes.common import TheService, answer, described

router = APIRouter(tags=["jobs"])
JobId = Annotated[str, Path(max_length=100)]


@router.post(
    "/v1/certify", summary="Certify clauses", status_code=202, responses=described(JobBegun, 400, 404, 409, 413, 415)
)
async def certify(asked: CertifyBody, service: TheService) -> Response:
    """Begin to certify clauses: how badly each can be violated. The answer names the job that does it."""
    served = service.runs.get(asked.run)
    if not served.run.clauses:
        raise Problem(409, "the run was trained without clauses, so there is nothing to certify")
    numbers = range(len(served.run.clauses)) if asked.clauses is None else asked.clauses
    chosen = [served.clause(number) for number in numbers]

    def work(observer: Observer) -> dict[str, Any]:
        found = served.run.certify(
            chosen, region=asked.region, entities=asked.entities, semantics=asked.semantics, observer=observer
        )
        served.tolerance = found.tolerance
        result = found.to_dict()
        for number, one in zip(numbers, result["clauses"], strict=True):
            one["id"] = number
            served.certificates[one["clause"]] = one
        return result

    job = service.jobs.add("certify", served.name, work)
    return answer(served, {"job": job.id, "state": job.state}, 202, location=f"/v1/jobs/{job.id}")


@router.get("/v1/jobs", summary="The last jobs", responses=described(JobsAnswer))
async def jobs(service: TheService) -> Response:
    """List the last jobs, without their results."""
    return answer(None, {"jobs": [job.to_json() | {"result": None} for job in service.jobs.newest()]})


@router.get("/v1/jobs/{id}", summary="A job", responses=described(JobAnswer, 404))
async def job(id: JobId, service: TheService) -> Response:
    """Return how far a job is, and its result when it is done."""
    return answer(None, service.jobs.get(id).to_json())


@router.delete("/v1/jobs/{id}", summary="Cancel a job", responses=described(JobAnswer, 404))
async def cancel(id: JobId, service: TheService) -> Response:
    """Cancel a job; one that runs ends soon after."""
    return answer(None, service.jobs.cancel(id).to_json())
