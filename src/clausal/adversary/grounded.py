"""Grounded clauses: real entities in place of variables, whose vectors learn from the loss too.

What methods did before adversarial sets, and the baseline for them. Rocktäschel et al. (2015) ground clauses on pairs
that occur in facts, with the product semantics; KALE (Guo et al. 2016) on rules of which some atom is a fact. Here
every second grounding of a clause begins from a train fact of a relation in its body, and others are drawn from all
entities. Nothing is searched for, and the cost is that of the clauses; but what a clause says is learned by the
entities that were drawn, and not for all vectors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from clausal.adversary.adversary import AdversarialSet, GroupSet
from clausal.adversary.ascent import RealEntities
from clausal.adversary.clauses import ClauseGroup
from clausal.adversary.regions import body_atoms
from clausal.adversary.semantics import Semantics
from clausal.errors import InputError
from clausal.model.predictor import LinkPredictor


@dataclass(frozen=True, eq=False)
class Groundings(GroupSet):
    """The entities that stand for the variables of clauses."""

    entities: Tensor  # ids [clauses, sets, free slots]


class GroundedClauses(RealEntities):
    """Clauses on B groundings each, drawn anew in each epoch; entities and relations both learn."""

    moves_entities = True

    def __init__(self, facts: Tensor, sets: int = 1, pooling: str = "sum", semantics: Semantics | None = None) -> None:
        super().__init__(sets, pooling, semantics)
        order = facts[:, 1].argsort(stable=True)
        self.facts = facts[order].long()  # [facts, 3], by relation

    @torch.no_grad()
    def find(  # type: ignore[override]  # entities, and not their vectors
        self,
        predictor: LinkPredictor,
        groups: Sequence[ClauseGroup],
        generator: torch.Generator | None = None,
    ) -> list[Groundings]:
        if predictor.of_pairs:
            raise InputError(
                "clauses.adversary: grounded clauses are for models with a vector for each entity, "
                'and model-f has one for each pair; use "entities"'
            )
        return [Groundings(self._ground(predictor, group, generator)) for group in groups]

    def inconsistency(
        self, predictor: LinkPredictor, groups: Sequence[ClauseGroup], adversarial_set: AdversarialSet
    ) -> Tensor:
        found = []
        for group, one in zip(groups, adversarial_set, strict=True):
            assert isinstance(one, Groundings)
            vectors = predictor.encode(one.entities)  # through which the gradient reaches the entities
            found.append(self.pool(group.violation(predictor, self.semantics, vectors)))
        return torch.cat(found)

    def _ground(self, predictor: LinkPredictor, group: ClauseGroup, generator: torch.Generator | None) -> Tensor:
        """Draw entities [clauses, sets, free], and put those of a fact into every second set."""
        slots = group.slots(predictor)
        shape = (len(group), self.sets)
        drawn = predictor.random_entities((*shape, slots.free), generator)
        atoms = body_atoms(group)
        if not slots.free or not atoms or not len(self.facts):
            return drawn
        chosen = torch.randint(len(atoms), shape, generator=generator, device=predictor.device)
        chosen[:, 1::2] = -1  # left to chance
        for place, atom in enumerate(atoms):
            fact, known = self._facts_of(predictor, group.relations[:, atom], generator)
            for ends, argument in zip(slots.positions, (0, 2), strict=True):
                slot = ends[atom]
                if slot < slots.free:
                    begins = (chosen == place) & known[:, None]
                    drawn[:, :, slot] = torch.where(begins, fact[:, :, argument], drawn[:, :, slot])
        return drawn

    def _facts_of(
        self, predictor: LinkPredictor, relations: Tensor, generator: torch.Generator | None
    ) -> tuple[Tensor, Tensor]:
        """Draw facts [clauses, sets, 3] of relations [clauses], and tell for which there are some."""
        inverse = relations >= predictor.num_relations  # r⁻¹ of a reciprocal model is r + R
        of_facts, wanted = self.facts[:, 1].contiguous(), relations % predictor.num_relations
        first, last = (torch.searchsorted(of_facts, wanted, right=right) for right in (False, True))
        shares = torch.rand(len(relations), self.sets, generator=generator, device=predictor.device)
        rows = first[:, None] + (shares * (last - first)[:, None]).long()
        facts = self.facts[rows.clamp_max(len(of_facts) - 1)]
        return torch.where(inverse[:, None, None], facts.flip(-1), facts), last > first
