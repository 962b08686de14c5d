"""What if some clauses or facts were not there, or others were."""

from __future__ import annotations

from fastapi import APIRouter, Response

from clausal.serve.requests import WhatIfBody
from clausal.serve.responses import WhatIfAnswer
from clausal.serve.routes.common import TheService, described, worked
from clausal.serve.supposing import suppose

router = APIRouter(tags=["logic"])


@router.post(
    "/v1/whatif", summary="Suppose other clauses or facts", responses=described(WhatIfAnswer, 400, 404, 409, 413, 415)
)
async def what_if(asked: WhatIfBody, service: TheService) -> Response:
    """Close train under changed clauses and facts: what follows no more, what now follows, and other answers.

    The model stays as it is; answers are ranked with what follows before all else.
    """
    served = service.runs.get(asked.run)
    return await worked(service, served, suppose, served, asked, service.limits)
