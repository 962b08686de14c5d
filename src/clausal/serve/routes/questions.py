"""Questions, and scores of facts."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Response
from pydantic import ValidationError

from clausal.serve.answering import explained, scored
from clausal.serve.batching import answer as answer_queries
from clausal.serve.describing import describing
from clausal.serve.problems import Problem, invalid_problem
from clausal.serve.requests import PredictBody, ScoreBody
from clausal.serve.responses import PredictAnswer, ScoreAnswer
from clausal.serve.routes.common import TheService, answer, described, dumped
from clausal.serve.rows import answer_json
from clausal.serve.service import Service

router = APIRouter(tags=["questions"])


class Predict:
    """Answers the body of a request by the body of an answer, without a framework between: it is asked most."""

    def __init__(self, service: Service) -> None:
        self._service = service

    async def __call__(self, body: bytes) -> bytes:
        """Answer questions."""
        try:
            asked = PredictBody.model_validate_json(body)
        except ValidationError as error:
            raise invalid_problem(error.errors(include_url=False)) from None
        return await self.answer(asked)

    async def answer(self, asked: PredictBody) -> bytes:
        """Answer questions that were read."""
        service = self._service
        served = service.runs.get(asked.run)
        _check_ranking(served.rankings, asked.ranking)
        if asked.describe:
            if asked.explain:
                raise Problem(422, "nothing is known of entities that are described, so that explain has no reasons")
            served = await service.work(describing, served, asked.describe)
        queries = await service.read_queries(served, asked.queries)
        if asked.ranking in ("model", "entailed") and not asked.consistent and not asked.describe:
            found = await service.batcher.ask(served, queries, asked.k, new=asked.new, ranking=asked.ranking)
        else:
            found = await service.work(
                lambda: answer_queries(
                    served, queries, asked.k, new=asked.new, ranking=asked.ranking, consistent=asked.consistent
                )
            )
        results: list[dict[str, Any]] = [
            {
                "query": {"subject": query[0], "relation": query[1], "object": query[2]},
                "answers": [answer_json(*one) for one in answers],
            }
            for query, answers in zip(queries, found, strict=True)
        ]
        if asked.explain:
            await service.work(explained, served, queries, found, results, asked.ranking, service.limits.explained)
        payload: dict[str, Any] = {"run": served.name, "ranking": asked.ranking, "results": results}
        if not served.names.plain:  # labels are looked up, which can take long
            return await service.work(lambda: dumped(payload | served.names.shown_in(results)))
        return dumped(payload)


@router.post(
    "/v1/predict",
    summary="Answer questions",
    responses=described(PredictAnswer, 400, 404, 409, 413, 415),
)
async def predict(asked: PredictBody, service: TheService) -> Response:
    """Answer questions for objects, subjects or relations, or score whole facts.

    Each answer has its status: the graph has it (``known``), train entails it (``entailed``), rules with exceptions
    say so (``rule``, with a confidence), or the model alone does (``predicted``).
    """
    return Response(await Predict(service).answer(asked), media_type="application/json")


def _check_ranking(rankings: list[str], asked: str) -> None:
    if asked not in rankings:
        raise Problem(409, f"the run cannot be asked by the ranking '{asked}'; it has: {', '.join(rankings)}")


@router.post("/v1/score", summary="Score facts", responses=described(ScoreAnswer, 400, 404, 409, 413, 415))
async def score(asked: ScoreBody, service: TheService) -> Response:
    """Score up to 100,000 facts, given as rows [subject, relation, object]."""
    served = service.runs.get(asked.run)
    _check_ranking(served.rankings, asked.ranking)
    served = await service.work(describing, served, asked.describe)

    def work() -> bytes:
        return scored(served, asked.facts, asked.ranking, asked.unknown, consistent=asked.consistent)

    return answer(served, await service.work(work))
