"""Gradient ascent as one CUDA graph: its steps are many small operations, which are launched as one."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from clausal.adversary.ascent import AdversarialSet, GradientAscent
from clausal.adversary.clauses import ClauseGroup
from clausal.model.predictor import LinkPredictor


class RecordedAscent(GradientAscent):
    """Makes its first ascent plainly, records the second, and replays it for the same model and clauses."""

    _of: tuple[object, ...] = ()
    _graph: torch.cuda.CUDAGraph | None = None
    _recordable = True
    _sets: AdversarialSet

    def ascend(
        self, predictor: LinkPredictor, groups: Sequence[ClauseGroup], adversarial_set: AdversarialSet
    ) -> AdversarialSet:
        of = (predictor, *groups)
        if self._of != of:
            self._of, self._graph, self._recordable = of, None, True
            return super().ascend(predictor, groups, adversarial_set)
        if self._graph is None and not self._record(predictor, groups, adversarial_set):
            return super().ascend(predictor, groups, adversarial_set)
        assert self._graph is not None
        for vectors, first in zip(self._sets, adversarial_set, strict=True):
            vectors.data.copy_(first)
        self._graph.replay()
        return [vectors.detach().clone() for vectors in self._sets]

    def _record(self, predictor: LinkPredictor, groups: Sequence[ClauseGroup], start: AdversarialSet) -> bool:
        """Record an ascent; False where something in it waits for the GPU, which a graph cannot hold."""
        if not self._recordable:
            return False
        self._sets = [vectors.clone() for vectors in start]
        graph = torch.cuda.CUDAGraph()
        try:
            with torch.cuda.graph(graph):
                super().ascend(predictor, groups, self._sets)
        except RuntimeError as error:
            if "captur" not in str(error):
                raise
            self._recordable = False
            return False
        self._graph = graph
        return True
