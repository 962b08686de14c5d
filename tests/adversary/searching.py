"""A search for violations of its own: projected steps of falling length along the gradient, from many starts."""

from __future__ import annotations

import torch

from clausal.adversary.regions import projected, region_of
from clausal.adversary.semantics import Godel


def largest_found(predictor, group, semantics=None, region="domain", sets=64, steps=150, seed=0):
    """The largest violation of the only clause of a group, or of a reading of it."""
    semantics, place = semantics or Godel(), region_of(predictor, group, region)
    generator = torch.Generator().manual_seed(seed)
    dim, free = predictor.scorer.dim, group.slots(predictor).free
    drawn = 1.5 * torch.randn(1, sets, free, dim, generator=generator, dtype=predictor.relations.dtype)
    entities = torch.randint(predictor.num_entities, (1, sets, free), generator=generator)
    vectors = projected(predictor, place, torch.cat([drawn, predictor.encode(entities).detach()], 1))
    best = 0.0
    for step in range(steps):
        vectors.requires_grad_()
        value = group.unclipped(predictor, semantics, vectors)
        best = max(best, value.max().item())
        (gradient,) = torch.autograd.grad(value.sum(), vectors)
        length = gradient.flatten(2).norm(dim=-1)[..., None, None].clamp_min(1e-12)
        vectors = projected(predictor, place, (vectors + 0.3 * 0.96**step * gradient / length).detach())
    return best
