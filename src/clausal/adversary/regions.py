"""Regions: where the vectors of a clause range, slot by slot, in the components that the scorer works on.

The free slots (variables) come first and the fixed ones (constants) after them, as in ``ArgumentSlots``.
"""

from __future__ import annotations

from functools import cache

import torch
from torch import Tensor

from clausal.adversary.clauses import ClauseGroup
from clausal.bounds.regions import Balls, Boxes, Discs, Region
from clausal.choices import RegionName
from clausal.errors import InputError
from clausal.logic.syntax import Implies, leaves
from clausal.model.domains import Ball, Box, Cone, Sphere, Unbounded
from clausal.model.predictor import LinkPredictor
from clausal.model.row_table import row_table
from clausal.model.scorers import BlockScorer


def resolved(region: RegionName, predictor: LinkPredictor) -> RegionName:
    """Return the region that ``auto`` means for a predictor, or the region itself."""
    if region != "auto":
        return region
    if isinstance(predictor.domain, Cone):
        return "hull"  # discs would hold vectors that are not in the cone
    if not isinstance(predictor.domain, Unbounded):
        return "domain"
    return "discs" if predictor.scorer.complex_numbers else "hull"


def region_of(
    predictor: LinkPredictor, group: ClauseGroup, region: RegionName = "domain", facts: Tensor | None = None
) -> Region | None:
    """Return where the slots of a group's clauses range; None where that is no such region, as all of ℝᵏ is none.

    ``roles`` needs the train facts [facts, 3].
    """
    region = resolved(region, predictor)
    if region == "roles":
        if facts is None:
            raise InputError('the region "roles" needs the train facts')
        return _roles(predictor, group, facts)
    if region == "domain":
        return _domain(predictor, group)
    free, fixed = components_of_slots(predictor, group)
    entities = predictor.scorer.components(predictor.encode_all())
    if region == "discs":
        radius = _largest(predictor, torch.linalg.vector_norm(entities, dim=-1).amax(0))
        return Discs(radius.expand(len(fixed), free, -1), fixed)
    low, high = _largest(predictor, torch.stack([-entities.amin(0), entities.amax(0)])).unbind()
    return _boxes(-low, high, free, fixed)


def _largest(predictor: LinkPredictor, values: Tensor) -> Tensor:
    """Return the largest of each number over the processes that have the entities dealt among them."""
    table = row_table(predictor)
    return values if table is None else table.largest(values)


def projected(predictor: LinkPredictor, region: Region | None, vectors: Tensor) -> Tensor:
    """Return the nearest vectors of a region to those of free slots [clauses, sets, free, dim]."""
    if region is None or isinstance(region, Balls):  # what the domain itself is
        return predictor.domain.project(vectors)
    return predictor.scorer.join(region.project(predictor.scorer.components(vectors)))


def farthest(predictor: LinkPredictor, region: Region | None, directions: Tensor) -> Tensor:
    """Return the vectors of a region that lie farthest in the directions of free slots [clauses, sets, free, dim]."""
    if region is None or isinstance(region, Balls):
        return predictor.domain.farthest(directions)
    return predictor.scorer.join(region.farthest(predictor.scorer.components(directions)))


def limits_of(region: Region | None, free: int) -> Tensor:
    """Return what a region other than the domain knows of its free slots, to be kept while the entities move on."""
    assert isinstance(region, Boxes | Discs)
    return region.radius if isinstance(region, Discs) else torch.stack([region.low[:, :free], region.high[:, :free]])


def region_within(predictor: LinkPredictor, group: ClauseGroup, limits: Tensor) -> Region:
    """Return the region with these limits of the free slots, and the constants where they are now."""
    _, fixed = components_of_slots(predictor, group)
    if limits.dim() == 3:
        return Discs(limits, fixed)
    low, high = limits.unbind()
    return Boxes(torch.cat([low, fixed], 1), torch.cat([high, fixed], 1))


def components_of_slots(predictor: LinkPredictor, group: ClauseGroup) -> tuple[int, Tensor]:
    """Return the number of free slots, and the components of the fixed ones."""
    return group.slots(predictor).free, predictor.scorer.components(group.constant_vectors(predictor))


def _boxes(low: Tensor, high: Tensor, free: int, fixed: Tensor) -> Boxes:
    """Give every free slot the same limits [components, size]."""
    low, high = (limit.expand(len(fixed), free, *limit.shape) for limit in (low, high))
    if not fixed.shape[1]:
        return Boxes(low, high)  # still expanded, for a loss to see that all clauses are alike
    return Boxes(torch.cat([low, fixed], 1), torch.cat([high, fixed], 1))


def _domain(predictor: LinkPredictor, group: ClauseGroup) -> Region | None:
    domain, scorer = predictor.domain, predictor.scorer
    free, fixed = components_of_slots(predictor, group)
    if isinstance(domain, Sphere | Ball):
        return Balls(free, fixed, sphere=isinstance(domain, Sphere))
    if isinstance(domain, Box) and not (isinstance(scorer, BlockScorer) and scorer.rotates):
        low, high = (fixed.new_full((1, 1), limit).expand(fixed.shape[2:]) for limit in (domain.low, domain.high))
        return _boxes(low, high, free, fixed)
    return None


def _roles(predictor: LinkPredictor, group: ClauseGroup, facts: Tensor) -> Boxes:
    """Intersect, for each variable, the boxes of what stands in its places in the train facts of the body's relations.

    Where two boxes do not meet, the gap between them counts; a relation without facts says nothing.
    """
    hull = region_of(predictor, group, "hull")
    assert isinstance(hull, Boxes)
    low, high = hull.low.clone(), hull.high.clone()
    slots = group.slots(predictor)

    @cache
    def limits(relation: int, argument: int) -> tuple[Tensor, Tensor] | None:
        inverse, relation = divmod(relation, predictor.num_relations)  # r⁻¹ of a reciprocal model is r + R
        of_relation = facts[facts[:, 1] == relation].long()
        if not len(of_relation):
            return None
        subjects, objects = of_relation[:, 2 * inverse], of_relation[:, 2 - 2 * inverse]
        components = predictor.scorer.components(predictor.role_vectors(subjects, objects, argument))
        return components.amin(0), components.amax(0)

    for clause, relations in enumerate(group.relations.tolist()):
        for row in (row for atom in body_atoms(group) for row in group.rows_of(atom)):
            for argument, position in enumerate(slots.positions):
                slot, found = position[row], limits(relations[row], argument)
                if slot < slots.free and found is not None:
                    low[clause, slot] = torch.maximum(low[clause, slot], found[0])
                    high[clause, slot] = torch.minimum(high[clause, slot], found[1])
    return Boxes(torch.minimum(low, high), torch.maximum(low, high))


def body_atoms(group: ClauseGroup) -> list[int]:
    """Return the places of the atoms in the body of a group's clauses; none where they are no implications."""
    match group.shape.formula:
        case Implies(body, _):
            return [atom.index for atom in leaves(body)]
        case _:
            return []
