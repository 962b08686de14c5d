"""Work on a GPU as a CUDA graph: recorded once, then replayed without a trip to Python for each small operation."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from clausal.adversary.adversary import Vectors
from clausal.adversary.ascent import GradientAscent, ascend
from clausal.adversary.clauses import ClauseGroup
from clausal.model.predictor import LinkPredictor
from clausal.training.step import Losses, Pass, Step


class Recording:
    """Does some work plainly at the first call, records it at the second, and replays that from then on.

    The work reads what changes from one call to the next where it lay when it was recorded, and draws random numbers
    from ``generator`` alone. Work that waits for the GPU's answer cannot be recorded, and is always done plainly.
    """

    def __init__(self, work: Callable[[], Sequence[Tensor]], generator: torch.Generator | None = None) -> None:
        self.work = work
        self.generator = generator
        self._warm = False  # at the first call kernels are compiled and memory is taken, which no graph can hold
        self._recordable = True
        self._graph: torch.cuda.CUDAGraph | None = None
        self._results: Sequence[Tensor] = ()

    def __call__(self) -> Sequence[Tensor]:
        """Do the work, and return its results."""
        if not self._warm or not self._recordable:
            self._warm = True
            return self.work()
        if self._graph is None and not self._record():
            return self.work()
        assert self._graph is not None
        self._graph.replay()
        return [result.clone() for result in self._results]

    def _record(self) -> bool:
        graph = torch.cuda.CUDAGraph()
        state = None
        if self.generator is not None:
            state = self.generator.get_state()
            graph.register_generator_state(self.generator)
        try:
            with torch.cuda.graph(graph):
                self._results = self.work()
        except RuntimeError as error:
            if "captur" not in str(error):
                raise
            self._recordable = False
            return False
        finally:
            if self.generator is not None and state is not None:
                self.generator.set_state(state)
        self._graph = graph
        return True


class RecordedPass(Pass):
    """A pass of the discriminator as a graph. The order of the facts and S are read where they lay at first."""

    def __init__(self, step: Step) -> None:
        super().__init__(step)
        facts = step.objective.facts
        self._order = torch.arange(len(facts), device=facts.device)
        self._generator = torch.Generator(facts.device)
        self._recording = Recording(self._work, self._generator)

    def __call__(self, order: Tensor, generator: torch.Generator) -> Losses:
        self._order.copy_(order)
        self._generator.set_state(generator.get_state())
        return Losses(*self._recording())

    def _work(self) -> Losses:
        return super().__call__(self._order, self._generator)


class _RecordedAscent:
    """An ascent for one model and its clauses."""

    def __init__(
        self, ascent: GradientAscent, predictor: LinkPredictor, groups: Sequence[ClauseGroup], start: Sequence[Vectors]
    ) -> None:
        self.of = (predictor, *groups)
        self._sets = [found.vectors.clone() for found in start]
        self._recording = Recording(lambda: self._work(ascent, predictor, groups))

    def __call__(self, start: Sequence[Vectors]) -> list[Vectors]:
        for vectors, first in zip(self._sets, start, strict=True):
            vectors.data.copy_(first.vectors)
        return [Vectors(vectors) for vectors in self._recording()]

    def _work(
        self, ascent: GradientAscent, predictor: LinkPredictor, groups: Sequence[ClauseGroup]
    ) -> Sequence[Tensor]:
        found = ascend(ascent, predictor, groups, [Vectors(vectors) for vectors in self._sets])
        return [one.vectors for one in found]


def recorded_ascent(
    ascent: GradientAscent, predictor: LinkPredictor, groups: Sequence[ClauseGroup], start: Sequence[Vectors]
) -> list[Vectors]:
    """Do what ``ascend`` does, as a graph from the second call for the same model and clauses on."""
    recorded = ascent.between_searches
    if not isinstance(recorded, _RecordedAscent) or recorded.of != (predictor, *groups):
        recorded = ascent.between_searches = _RecordedAscent(ascent, predictor, groups, start)
    return [Vectors(one.vectors.clone()) for one in recorded(start)]
