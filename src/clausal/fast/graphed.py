"""A pass as one CUDA graph: recorded once, replayed for every later pass without a trip to Python per batch."""

from __future__ import annotations

import torch
from torch import Tensor

from clausal.training.step import Passed, Step


class GraphedStep(Step):
    """Records the passes of another step, whose batches read the order of facts and S where they were then."""

    def __init__(self, inner: Step) -> None:
        super().__init__(inner.objective, inner.optimizer)
        self.inner = inner
        self.name = inner.name
        self.order = torch.arange(len(self.objective.facts), device=self.objective.facts.device)
        self.generator = torch.Generator(self.order.device)
        self.warm = False
        self.recordable = True
        self.graph: torch.cuda.CUDAGraph | None = None
        self.passed: Passed | None = None

    def step(self, facts: Tensor, generator: torch.Generator) -> Passed:
        return self.inner.step(facts, generator)

    def train_pass(self, order: Tensor, generator: torch.Generator) -> Passed:
        if not self.warm:
            # The first pass is made plainly: kernels are compiled and memory is taken.
            self.warm = True
            return self.inner.train_pass(order, generator)
        self.order.copy_(order)
        self.generator.set_state(generator.get_state())
        if self.graph is None and not self._record():
            return self.inner.train_pass(order, generator)
        assert self.graph is not None
        assert self.passed is not None
        self.graph.replay()
        return Passed(*(tensor.clone() for tensor in self.passed))

    def _record(self) -> bool:
        """Record a pass; False where something in it waits for the GPU, which a graph cannot hold."""
        if not self.recordable:
            return False
        state = self.generator.get_state()
        graph = torch.cuda.CUDAGraph()
        graph.register_generator_state(self.generator)
        try:
            with torch.cuda.graph(graph):
                self.passed = self.inner.train_pass(self.order, self.generator)
        except RuntimeError as error:
            if "captur" not in str(error):
                raise
            self.recordable = False
            return False
        finally:
            self.generator.set_state(state)
        self.graph = graph
        return True
