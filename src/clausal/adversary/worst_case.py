"""The largest violation of clauses over a region: which bound treats which scorer, as a certificate and as a loss.

A certificate comes with a point that is nearly as bad. A loss needs none: ``solve_violation`` returns the λ and μ of
the bound, and ``largest_violation`` is the bound for them, valid however the parameters move on.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from clausal.adversary.clauses import ClauseGroup
from clausal.bounds.balls.dual import bound_on_balls, largest_on_balls, solve_on_balls
from clausal.bounds.balls.phases import bound_by_phases
from clausal.bounds.balls.spectral import bound_by_spectrum
from clausal.bounds.blocks import AtomBlocks, Bound, LinearForms, attained
from clausal.bounds.boxes.dual import bound_on_boxes, largest_on_boxes, solve_on_boxes
from clausal.bounds.boxes.reflexive import bound_quadratics
from clausal.bounds.boxes.whole import bound_whole
from clausal.bounds.distances.tightest import bound_distances
from clausal.bounds.distances.triangle import DistanceEdges, largest_of_distances
from clausal.bounds.regions import Boxes, Discs, Region
from clausal.model.predictor import LinkPredictor
from clausal.model.scorers import BlockScorer, RotatE, TransE


@dataclass(frozen=True, eq=False)
class DualPoint:
    """What a bound needs to be a loss: nothing for closed forms, λ on boxes and by phases, λ and μ on balls and discs.

    The bound is valid for every λ and μ; those that are solved for make it smallest.
    """

    weights: Tensor | None = None  # λ [clauses, forms]
    multipliers: Tensor | None = None  # μ


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
        exact = bound_quadratics(atoms, forms, place, free)
        return exact or _least_on_boxes(atoms, forms, place, free)
    return (
        bound_by_spectrum(atoms, forms, place, free)
        or bound_by_phases(atoms, forms, place, free)
        or bound_on_balls(atoms, forms, place, free)
    )


def _least_on_boxes(atoms: AtomBlocks, forms: LinearForms, boxes: Boxes, free: int) -> Bound | None:
    """Bound by corners or, where there are too many of them or squares are only touched by tangents, as a whole."""
    by_corners = bound_on_boxes(atoms, forms, boxes, free)
    if by_corners is not None and not any(atoms.reflexive(slot) for slot in range(free)):
        return by_corners
    whole = bound_whole(atoms, forms, boxes, free)
    if by_corners is None or whole is None:
        return by_corners or whole
    less = whole.value < by_corners.value
    points = [attained(atoms, forms, one.components.unsqueeze(1)).squeeze(1) for one in (whole, by_corners)]
    better = (points[0] > points[1])[:, None, None, None]
    return Bound(
        torch.minimum(whole.value, by_corners.value),
        torch.where(less[:, None], whole.weights, by_corners.weights),
        torch.where(better, whole.components, by_corners.components),
    )


def solve_violation(
    predictor: LinkPredictor, group: ClauseGroup, forms: LinearForms, region: Region | None
) -> DualPoint | None:
    """Return what ``largest_violation`` needs for the least bound of the model as it is; None where none is known."""
    if not _free(predictor, group) or isinstance(predictor.scorer, TransE | RotatE):
        return DualPoint()
    blocks = _blocks(predictor, group, region)
    if blocks is None:
        return None
    if isinstance(blocks.region, Boxes):
        solved = solve_on_boxes(blocks.atoms, forms, blocks.region, blocks.free)
        return None if solved is None else DualPoint(*solved)
    return DualPoint(*solve_on_balls(blocks.atoms, forms, blocks.region, blocks.free))


def largest_violation(
    predictor: LinkPredictor, group: ClauseGroup, forms: LinearForms, region: Region | None, dual: DualPoint
) -> Tensor:
    """Return a bound on the largest min over forms [clauses], differentiable, for given λ and μ.

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
        return largest_on_boxes(blocks.atoms, forms, blocks.region, blocks.free, dual.weights)
    return largest_on_balls(blocks.atoms, forms, blocks.region, blocks.free, dual.weights, dual.multipliers)


def _free(predictor: LinkPredictor, group: ClauseGroup) -> int:
    return group.slots(predictor).free


def _evaluated(predictor: LinkPredictor, group: ClauseGroup, forms: LinearForms) -> Tensor:
    """Return the forms [clauses, forms] of clauses of constants alone: there is nothing to choose."""
    nothing = predictor.relations.new_empty(len(group), 1, 0, predictor.scorer.dim)
    scores = group.row_scores(predictor, nothing).squeeze(1)
    return scores @ forms.like(scores).matrix.T + forms.like(scores).offsets


def _bound_evaluated(predictor: LinkPredictor, group: ClauseGroup, forms: LinearForms) -> Bound:
    values = _evaluated(predictor, group, forms)
    weights = torch.zeros_like(values).scatter(1, values.argmin(1, keepdim=True), 1.0)
    fixed = predictor.scorer.components(group.constant_vectors(predictor))
    return Bound(values.amin(1), weights, fixed.detach())


def _edges(predictor: LinkPredictor, group: ClauseGroup, region: Region | None) -> DistanceEdges:
    scorer, slots = predictor.scorer, group.slots(predictor)
    assert isinstance(scorer, TransE | RotatE)
    fixed = scorer.components(group.constant_vectors(predictor))
    subjects, objects = slots.positions
    return DistanceEdges.of(scorer, predictor.relation(group.relations), subjects, objects, region, fixed, slots.free)


@dataclass(frozen=True, eq=False)
class _Blocks:
    """The clauses of a group as block-bilinear forms, and where their slots range."""

    atoms: AtomBlocks
    region: Region
    free: int


def _blocks(predictor: LinkPredictor, group: ClauseGroup, region: Region | None) -> _Blocks | None:
    scorer = predictor.scorer
    if region is None or not isinstance(scorer, BlockScorer):
        return None
    slots = group.slots(predictor)
    subjects, objects = map(tuple, slots.positions)
    atoms = AtomBlocks(scorer.blocks(predictor.relation(group.relations)), subjects, objects)
    if isinstance(region, Discs) and atoms.matrices.shape[-1] == 1:
        region = region.intervals()  # for which corners are exact, and the Lagrangian dual is not
    return _Blocks(atoms, region, slots.free)
