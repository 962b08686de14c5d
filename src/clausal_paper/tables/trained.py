"""What training a row returns, and what it tells while it trains."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from clausal.model import LinkPredictor
from clausal.training import PassReport

OnPass = Callable[[PassReport], None]
OnEpoch = Callable[[dict[str, Any]], None]
Tell = Callable[[str], None]


class Trained(NamedTuple):
    """A trained row: the model that was best on valid, its MRR there, and the epoch, or for KALE the pass, it is of.

    The MRR is None where nothing was validated.
    """

    predictor: LinkPredictor
    valid_mrr: float | None
    best_epoch: int
    step: str
