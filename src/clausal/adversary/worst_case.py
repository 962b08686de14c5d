"""The largest violation of clauses over a region: which bound treats which scorer, as a certificate and as a loss.

A certificate comes with a point that is nearly as bad. A loss needs none: ``solve_violation`` returns what the bound
has to keep, and ``largest_violation`` is the bound for what was kept, valid however the parameters move on.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from clausal.adversary.clauses import ArgumentSlots, ClauseGroup
from clausal.bounds.balls.dual import bound_on_balls, largest_on_balls, solve_on_balls
from clausal.bounds.balls.phases import bound_by_phases
from clausal.bounds.balls.spectral import bound_by_spectrum
from clausal.bounds.blocks import AtomBlocks, Bound, LinearForms
from clausal.bounds.boxes.dual import bound_on_boxes, largest_on_boxes, solve_on_boxes
from clausal.bounds.boxes.reflexive import bound_quadratics
from clausal.bounds.distances.triangle import Edges, bound_distances, largest_of_distances
from clausal.bounds.regions import Balls, Boxes, Discs, Region
from clausal.model.predictor import LinkPredictor
from clausal.model.scorers import BlockScorer, ModelF, RotatE, TransE

Kept = tuple[Tensor, ...]
"""What a bound needs to be a loss: nothing for closed forms, λ on boxes and by phases, λ and μ on balls and discs."""


def bound_violation(
    predictor: LinkPredictor, group: ClauseGroup, forms: LinearForms, region: Region | None
) -> Bound | None:
    """Bound the largest min over forms of each clause in a region; None where no bound is known."""
    if not _free(predictor, group):
        return _bound_evaluated(predictor, group, forms)
    if isinstance(predictor.scorer, TransE | RotatE):
        return bound_distances(_edges(predictor, group, region), forms, region)
    blocks = _blocks(predictor, group, region)
    if blocks is None:
        return None
    atoms, place, free = blocks.atoms, blocks.region, blocks.free
    if isinstance(place, Boxes):
        bound = bound_quadratics(atoms, forms, place, free) or bound_on_boxes(atoms, forms, place, free)
    else:
        bound = (
            bound_by_spectrum(atoms, forms, place, free)
            or bound_by_phases(atoms, forms, place, free)
            or bound_on_balls(atoms, forms, place, free)
        )
    return _without_ones(bound) if predictor.scorer.arguments == 1 else bound


def solve_violation(
    predictor: LinkPredictor, group: ClauseGroup, forms: LinearForms, region: Region | None
) -> Kept | None:
    """Return what ``largest_violation`` needs for the least bound of the model as it is; None where none is known."""
    if not _free(predictor, group) or isinstance(predictor.scorer, TransE | RotatE):
        return ()
    blocks = _blocks(predictor, group, region)
    if blocks is None:
        return None
    if isinstance(blocks.region, Boxes):
        return solve_on_boxes(blocks.atoms, forms, blocks.region, blocks.free)
    return solve_on_balls(blocks.atoms, forms, blocks.region, blocks.free)


def largest_violation(
    predictor: LinkPredictor, group: ClauseGroup, forms: LinearForms, region: Region | None, kept: Kept
) -> Tensor:
    """Return a bound on the largest min over forms [clauses], differentiable, for what was kept.

    Nothing here is searched for, made on the host or waited for, so that a training step can be recorded on a GPU,
    but for decompositions of larger matrices: RESCAL on sphere and ball, and r(X, X) in conjunctions there.
    """
    if not _free(predictor, group):
        return _evaluated(predictor, group, forms).amin(1)
    if isinstance(predictor.scorer, TransE | RotatE):
        return largest_of_distances(_edges(predictor, group, region), forms)
    blocks = _blocks(predictor, group, region)
    assert blocks is not None, "solved before"
    if isinstance(blocks.region, Boxes):
        return largest_on_boxes(blocks.atoms, forms, blocks.region, blocks.free, *kept)
    return largest_on_balls(blocks.atoms, forms, blocks.region, blocks.free, *kept)


def _free(predictor: LinkPredictor, group: ClauseGroup) -> int:
    return ArgumentSlots.of(group.shape, predictor.scorer.arguments).free


def _evaluated(predictor: LinkPredictor, group: ClauseGroup, forms: LinearForms) -> Tensor:
    """Return the forms [clauses, forms] of clauses of constants alone: there is nothing to choose."""
    slots = ArgumentSlots.of(group.shape, predictor.scorer.arguments)
    by_slot = group.constant_vectors(predictor).unbind(1)
    arguments = [torch.stack([by_slot[slot] for slot in places], 1) for places in slots.positions]
    scores = predictor.scorer.score(predictor.relation(group.relations), *arguments)
    return scores @ forms.like(scores).matrix.T + forms.like(scores).offsets


def _bound_evaluated(predictor: LinkPredictor, group: ClauseGroup, forms: LinearForms) -> Bound:
    values = _evaluated(predictor, group, forms)
    weights = torch.zeros_like(values).scatter(1, values.argmin(1, keepdim=True), 1.0)
    fixed = predictor.scorer.components(group.constant_vectors(predictor))
    return Bound(values.amin(1), weights, fixed.detach())


def _edges(predictor: LinkPredictor, group: ClauseGroup, region: Region | None) -> Edges:
    scorer, slots = predictor.scorer, ArgumentSlots.of(group.shape, predictor.scorer.arguments)
    assert isinstance(scorer, TransE | RotatE)
    fixed = scorer.components(group.constant_vectors(predictor))
    subjects, objects = slots.positions
    return Edges.of(scorer, predictor.relation(group.relations), subjects, objects, region, fixed, slots.free)


@dataclass(frozen=True, eq=False)
class _Blocks:
    """The clauses of a group as block-bilinear forms, and where their slots range."""

    atoms: AtomBlocks
    region: Region
    free: int


def _blocks(predictor: LinkPredictor, group: ClauseGroup, region: Region | None) -> _Blocks | None:
    scorer = predictor.scorer
    if region is None or not isinstance(scorer, BlockScorer | ModelF):
        return None
    relations = predictor.relation(group.relations)
    slots = ArgumentSlots.of(group.shape, scorer.arguments)
    if isinstance(scorer, BlockScorer):
        atoms = AtomBlocks(scorer.blocks(relations), tuple(slots.positions[0]), tuple(slots.positions[1]))
    else:
        # θ · h is bilinear in h and in a vector of ones, which takes the slot after the last.
        ones = (slots.free + len(slots.fixed),) * len(group.shape.atoms)
        atoms = AtomBlocks(relations[..., None, None], tuple(slots.positions[0]), ones)
        region = _with_ones(region)
    if isinstance(region, Discs) and atoms.matrices.shape[-1] == 1:
        region = region.intervals()  # for which corners are exact, and the Lagrangian dual is not
    return _Blocks(atoms, region, slots.free)


def _with_ones(region: Region) -> Region:
    if isinstance(region, Boxes):
        ones = torch.ones_like(region.low[:, :1])
        return Boxes(torch.cat([region.low, ones], 1), torch.cat([region.high, ones], 1))
    fixed = torch.cat([region.fixed, region.fixed.new_ones(len(region.fixed), 1, *region.fixed.shape[2:])], 1)
    return Discs(region.radius, fixed) if isinstance(region, Discs) else Balls(region.free, fixed, region.sphere)


def _without_ones(bound: Bound | None) -> Bound | None:
    return bound and Bound(bound.value, bound.weights, bound.components[:, :-1])
