"""A pass recorded as a CUDA graph and replayed, which spares a trip to Python for each of its small kernels."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor


class RecordedPass:
    """Makes the first pass plainly, records the second, and replays that from then on; the generator moves on."""

    def __init__(self, plain: Callable[[torch.Generator], Tensor]) -> None:
        self.plain = plain
        self.warm = False
        self.graph: torch.cuda.CUDAGraph | None = None
        self.loss: Tensor | None = None

    def __call__(self, generator: torch.Generator) -> Tensor:
        """Return the loss, summed over the pass."""
        if not self.warm:
            self.warm = True
            return self.plain(generator)
        if self.graph is None:
            self.graph = torch.cuda.CUDAGraph()
            self.graph.register_generator_state(generator)
            with torch.cuda.graph(self.graph):
                self.loss = self.plain(generator)
        self.graph.replay()
        assert self.loss is not None
        return self.loss.clone()
