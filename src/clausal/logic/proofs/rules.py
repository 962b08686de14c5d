"""Clauses as the prover applies them: over ids, by the relation of their head, each with the clause it is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from clausal.graph import Names
from clausal.logic.check import check_clauses
from clausal.logic.closure.plan import Rule, RuleShape, make_plan
from clausal.logic.shape import AtomShape, Slot
from clausal.logic.syntax import Clause

Bound = dict[Slot, int]
"""What variables and constants stand for, as ids of entities."""


@dataclass(frozen=True)
class ProofRule:
    """A Horn clause over ids."""

    clause: Clause
    shape: RuleShape
    rule: Rule

    @property
    def body(self) -> tuple[AtomShape, ...]:
        """The atoms of the body, without names."""
        return self.shape.body

    @property
    def head_relation(self) -> int:
        """The relation of the facts that it derives."""
        return self.rule.relations[-1]

    def relation(self, position: int) -> int:
        """Return the relation of an atom of the body."""
        return self.rule.relations[position]

    def match_head(self, subject: int, object: int) -> Bound | None:
        """Return what constants and the head's variables stand for where the head is this fact, if it can be."""
        bound = {Slot("constant", index): entity for index, entity in enumerate(self.rule.constants)}
        for slot, entity in zip(self.shape.head.slots, (subject, object), strict=True):
            if bound.setdefault(slot, entity) != entity:
                return None
        return bound


def rules_by_head(clauses: Iterable[Clause], entities: Names, relations: Names) -> dict[int, list[ProofRule]]:
    """Return the clauses that derive facts by the relation of their head, in order; of equal ones the first."""
    clauses = list(clauses)
    check_clauses(clauses, entities, relations)
    rules: dict[tuple[RuleShape, Rule], ProofRule] = {}
    for clause in clauses:
        for group in make_plan([clause], entities, relations).groups:
            (rule,) = group.rules
            rules.setdefault((group.shape, rule), ProofRule(clause, group.shape, rule))
    by_head: dict[int, list[ProofRule]] = {}
    for known in rules.values():
        by_head.setdefault(known.head_relation, []).append(known)
    return by_head
