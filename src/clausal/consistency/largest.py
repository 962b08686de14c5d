"""The largest violation of clauses over a region: which bound treats which scorer."""

from __future__ import annotations

import torch
from torch import Tensor

from clausal.consistency.bounds import AtomBlocks, Bound, bound_on_balls, bound_on_boxes, bound_on_discs
from clausal.consistency.clauses import ArgumentSlots, ClauseGroup
from clausal.consistency.distances import bound_distances
from clausal.consistency.forms import LinearForms
from clausal.consistency.quadrics import bound_quadratics
from clausal.consistency.regions import Balls, Boxes, Discs, Region
from clausal.consistency.spectral import bound_by_spectrum
from clausal.model.predictor import LinkPredictor
from clausal.model.scorers import BlockScorer, ModelF, RotatE, TransE


def bound_violation(
    predictor: LinkPredictor,
    group: ClauseGroup,
    forms: LinearForms,
    region: Region | None,
    weights: Tensor | None = None,
) -> Bound | None:
    """Bound the largest min over forms of each clause in a region; None where no bound is known.

    ``weights`` are the λ [clauses, forms] of an earlier bound and spare the search, so that the bound can be a loss;
    there is then none where it would need a search all the same.
    """
    slots = ArgumentSlots.of(group.shape, predictor.scorer.arguments)
    if not slots.free:
        return _evaluated(predictor, group, forms)
    if isinstance(predictor.scorer, TransE | RotatE):
        return bound_distances(predictor, group, forms, region)
    atoms = _atom_blocks(predictor, group)
    if atoms is None or region is None:
        return None
    if predictor.scorer.arguments == 1:
        return _without_ones(_bound_blocks(atoms, forms, _with_ones(region), slots.free, weights))
    return _bound_blocks(atoms, forms, region, slots.free, weights)


def _evaluated(predictor: LinkPredictor, group: ClauseGroup, forms: LinearForms) -> Bound:
    """Treat clauses of constants alone: there is nothing to choose."""
    scorer, fixed = predictor.scorer, group.constant_vectors(predictor)
    arguments = [fixed[:, position] for position in ArgumentSlots.of(group.shape, scorer.arguments).positions]
    scores = scorer.score(predictor.relation(group.relations), *arguments)
    values = scores @ forms.like(scores).matrix.T + forms.like(scores).offsets  # [clauses, forms]
    smallest = values.argmin(1, keepdim=True)
    weights = torch.zeros_like(values).scatter(1, smallest, 1.0)
    return Bound(values.gather(1, smallest).squeeze(1), weights, scorer.components(fixed).detach())


def _bound_blocks(
    atoms: AtomBlocks, forms: LinearForms, region: Region, free: int, weights: Tensor | None
) -> Bound | None:
    if isinstance(region, Boxes):
        closed = bound_quadratics(atoms, forms, region, free)
        return bound_on_boxes(atoms, forms, region, weights) if closed is None else closed
    closed = bound_by_spectrum(atoms, forms, region, weights)
    if closed is not None or weights is not None:
        return closed  # the dual's multipliers μ take a search, even where λ is known
    return bound_on_balls(atoms, forms, region) if isinstance(region, Balls) else bound_on_discs(atoms, forms, region)


def _atom_blocks(predictor: LinkPredictor, group: ClauseGroup) -> AtomBlocks | None:
    scorer, relations = predictor.scorer, predictor.relation(group.relations)
    slots = ArgumentSlots.of(group.shape, scorer.arguments)
    if isinstance(scorer, BlockScorer):
        return AtomBlocks(scorer.blocks(relations), tuple(slots.positions[0]), tuple(slots.positions[1]))
    if isinstance(scorer, ModelF):
        # θ · h is bilinear in h and in a vector of ones, which takes the slot after the last.
        ones = slots.free + len(slots.fixed)
        return AtomBlocks(relations[..., None, None], tuple(slots.positions[0]), (ones,) * len(group.shape.atoms))
    return None


def _with_ones(region: Region) -> Region:
    if isinstance(region, Boxes):
        ones = torch.ones_like(region.low[:, :1])
        return Boxes(torch.cat([region.low, ones], 1), torch.cat([region.high, ones], 1))
    fixed = torch.cat([region.fixed, region.fixed.new_ones(len(region.fixed), 1, *region.fixed.shape[2:])], 1)
    return Discs(region.radius, fixed) if isinstance(region, Discs) else Balls(region.free, fixed, region.sphere)


def _without_ones(bound: Bound | None) -> Bound | None:
    return bound and Bound(bound.value, bound.weights, bound.components[:, :-1])
