"""PyKEEN's side, for a virtual environment that has PyKEEN and not this library.

It trains fewer passes and ranks a tenth of the test facts, as more would take minutes; their seconds are multiplied.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from common.memory import forget_peak, peak, resident
from side_by_side.protocol import BATCHES, DIM, TRAINING, seconds, seconds_of_pass

PASSES = 20
SHARE = 10


def main(task: dict[str, Any]) -> dict[str, float]:
    """Train on the graph in ``folder`` and rank test."""
    import torch
    from pykeen.evaluation import RankBasedEvaluator
    from pykeen.models import ComplEx, DistMult
    from pykeen.training import SLCWATrainingLoop
    from pykeen.training.callbacks import TrainingCallback
    from pykeen.triples import TriplesFactory

    folder = Path(task["folder"])
    train = TriplesFactory.from_path(folder / "train.tsv")
    ids = {"entity_to_id": train.entity_to_id, "relation_to_id": train.relation_to_id}
    valid, test = (
        TriplesFactory.from_path(folder / f"{split}.tsv", **ids).mapped_triples for split in ("valid", "test")
    )
    kind, dim = (DistMult, DIM) if task["scorer"] == "distmult" else (ComplEx, DIM // 2)
    marks: list[float] = []
    first = 0.0

    class Mark(TrainingCallback):
        def post_epoch(self, epoch: int, epoch_loss: float, **_: Any) -> None:
            nonlocal first
            first = first or time.time() - task["started"]
            marks.append(time.perf_counter())

    started = time.perf_counter()
    model = kind(triples_factory=train, embedding_dim=dim, loss="pointwisehinge", random_seed=0)
    loop = SLCWATrainingLoop(
        model=model,
        triples_factory=train,
        optimizer=torch.optim.Adagrad(model.get_grad_params(), lr=0.1, initial_accumulator_value=0.1),
        negative_sampler="basic",
        negative_sampler_kwargs={"num_negs_per_pos": 2},
    )
    loop.train(
        triples_factory=train,
        num_epochs=PASSES,
        batch_size=-(-train.num_triples // BATCHES),
        use_tqdm=False,
        use_tqdm_batch=False,
        callbacks=Mark,
    )
    training = time.perf_counter() - started
    some = test[::SHARE]
    before = resident()
    forget_peak()
    ranking = seconds(
        lambda: RankBasedEvaluator(filtered=True).evaluate(
            model,
            some,
            additional_filter_triples=[train.mapped_triples, valid, test],
            batch_size=64,
            use_tqdm=False,
        )
    )
    return {
        "first pass": first,
        "training": training * TRAINING / PASSES,
        "pass": seconds_of_pass(marks, 2),
        "ranking": ranking * len(test) / len(some),
        "ranking memory": peak() - before,
        "memory": peak(),
    }
