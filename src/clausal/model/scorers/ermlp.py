"""ER-MLP (Dong et al. 2014): a multi-layer perceptron on relation, subject and object, shared by all relations."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from clausal.model.scorers.base import Scorer
from clausal.model.tensors import xavier_


class ERMLP(Scorer):
    """w · tanh(… tanh(A_r θ_r + A_s h₁ + A_o h₂ + a) …): hidden layers with tanh, then one linear unit."""

    name = "er-mlp"

    def __init__(self, dim: int, hidden: Sequence[int] = ()) -> None:
        super().__init__(dim)
        self.hidden = tuple(hidden) or (2 * dim, dim)
        first, *_ = self.hidden
        self.relation_layer = nn.Parameter(torch.empty(first, dim))
        self.subject_layer = nn.Parameter(torch.empty(first, dim))
        self.object_layer = nn.Parameter(torch.empty(first, dim))
        self.bias = nn.Parameter(torch.empty(first))
        self.layers = nn.ModuleList(nn.Linear(width, after) for width, after in pairwise((*self.hidden, 1)))
        self.reset_parameters()

    def score(self, subject: Tensor, relation: Tensor, object: Tensor) -> Tensor:
        # The first layer acts on each argument alone, so scoring many candidates never concatenates vectors.
        state = F.linear(relation, self.relation_layer, self.bias)
        state = state + F.linear(subject, self.subject_layer) + F.linear(object, self.object_layer)
        for layer in self.layers:
            state = layer(state.tanh())
        return state.squeeze(-1)

    @torch.no_grad()
    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """Initialise every layer by Xavier's rule, biases with zero."""
        for weight in (self.relation_layer, self.subject_layer, self.object_layer):
            xavier_(weight, generator)
        self.bias.zero_()
        for layer in self.layers:
            assert isinstance(layer, nn.Linear)
            xavier_(layer.weight, generator)
            layer.bias.zero_()

    def extra_repr(self) -> str:
        return f"{super().extra_repr()}, hidden={list(self.hidden)}"
