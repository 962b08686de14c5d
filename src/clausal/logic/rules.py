"""Horn clauses as rules over ids: the one form in which the closure, the measures and the prover read clauses.

Rules of one shape differ only in relations and constants, so that one query or one join serves all of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from clausal.logic.check import check_clauses
from clausal.logic.shape import AtomShape, Slot, horn_parts
from clausal.logic.syntax import Atom, Clause, Falsum, Term, Variable

if TYPE_CHECKING:
    from clausal.graph import Names

Binding: TypeAlias = dict[Slot, int]
"""The entities, by id, that slots stand for."""
CONSTRAINT = "a constraint: its head is false, so no fact follows from it"
"""Why a closure leaves such a clause out."""


@dataclass(frozen=True)
class RuleShape:
    """A Horn clause without names: its atoms over slots, which are numbered by first occurrence, the body's first.

    ``index`` of an atom is its position, the head last, and so the position of its relation in ``Rule.relations``.
    """

    body: tuple[AtomShape, ...]
    head: AtomShape | Falsum

    @property
    def atoms(self) -> tuple[AtomShape, ...]:
        """The atoms of the body, then the head unless it is ``false``."""
        return self.body if isinstance(self.head, Falsum) else (*self.body, self.head)

    @cached_property
    def body_variables(self) -> tuple[Slot, ...]:
        """The variables of the body, in the order of their numbers."""
        return _slots(self.body, "variable")

    @cached_property
    def body_constants(self) -> int:
        """How many constants the body has: they are the first ones of the rule."""
        return len(_slots(self.body, "constant"))

    @cached_property
    def head_variables(self) -> tuple[Slot, ...]:
        """The variables of the head, in the order of their numbers."""
        return _slots(self.atoms[len(self.body) :], "variable")

    @cached_property
    def is_safe(self) -> bool:
        """Whether the rule is safe, as in Datalog: every variable of the head is in the body."""
        return set(self.head_variables) <= set(self.body_variables)


@dataclass(frozen=True)
class Rule:
    """A Horn clause over ids: its shape, the relation of each atom, the constant of each constant's slot.

    Rules are equal if they say the same, whatever clause they come from.
    """

    shape: RuleShape
    relations: tuple[int, ...]
    constants: tuple[int, ...]
    clause: Clause = field(compare=False)

    @property
    def constant_binding(self) -> Binding:
        """The constants' slots with their entities, and no variable."""
        return {Slot("constant", index): entity for index, entity in enumerate(self.constants)}

    def match_head(self, subject: int, object: int) -> Binding | None:
        """Return what constants and the head's variables stand for where the head is this fact, if it can be."""
        binding = self.constant_binding
        for slot, entity in zip(self.shape.atoms[-1].slots, (subject, object), strict=True):
            if binding.setdefault(slot, entity) != entity:
                return None
        return binding


def _slots(atoms: Iterable[AtomShape], kind: str) -> tuple[Slot, ...]:
    found = {slot for atom in atoms for slot in atom.slots if slot.kind == kind}
    return tuple(sorted(found, key=lambda slot: slot.index))


class LeftOut(NamedTuple):
    """A clause that derives no facts, and why."""

    clause: Clause
    reason: str


class RuleGroup(NamedTuple):
    """Rules of one shape, which one query applies together, however many they are."""

    shape: RuleShape
    rules: tuple[Rule, ...]

    def relations_at(self, position: int) -> set[int]:
        """Return the relations that the atoms at a position have."""
        return {rule.relations[position] for rule in self.rules}


@dataclass(frozen=True)
class RuleSet:
    """The rules that derive facts, each once and in the order of the clauses, and the clauses that derive none."""

    rules: tuple[Rule, ...]
    left_out: tuple[LeftOut, ...] = ()

    @cached_property
    def groups(self) -> tuple[RuleGroup, ...]:
        """The rules by shape."""
        by_shape: dict[RuleShape, list[Rule]] = {}
        for rule in self.rules:
            by_shape.setdefault(rule.shape, []).append(rule)
        return tuple(RuleGroup(shape, tuple(rules)) for shape, rules in by_shape.items())

    @cached_property
    def by_head(self) -> dict[int, tuple[Rule, ...]]:
        """The rules by the relation of the facts that they derive."""
        by_head: dict[int, list[Rule]] = {}
        for rule in self.rules:
            by_head.setdefault(rule.relations[-1], []).append(rule)
        return {relation: tuple(rules) for relation, rules in by_head.items()}

    @cached_property
    def relations(self) -> frozenset[int]:
        """Every relation in a body or a head: facts of others take no part in any derivation."""
        return frozenset(relation for rule in self.rules for relation in rule.relations)


def encode_rules(clauses: Iterable[Clause], entities: Names, relations: Names) -> RuleSet:
    """Encode the clauses that derive facts; of equal rules the first is kept.

    Clauses that do not fit the vocabulary are refused as ``check_clauses`` does.
    """
    clauses = list(clauses)
    check_clauses(clauses, entities, relations)
    rules: dict[Rule, None] = {}
    left_out = []
    for clause in clauses:
        rule = encode_rule(clause, entities, relations)
        if rule is None:
            left_out.append(LeftOut(clause, "not a Horn clause: expected atoms, an arrow and one atom"))
        elif isinstance(rule.shape.head, Falsum):
            left_out.append(LeftOut(clause, CONSTRAINT))
        elif not rule.shape.is_safe:  # and without a body: others were refused above
            left_out.append(LeftOut(clause, "no body that binds its variables"))
        else:
            rules.setdefault(rule)
    return RuleSet(tuple(rules), tuple(left_out))


def encode_rule(clause: Clause, entities: Names, relations: Names) -> Rule | None:
    """Encode a Horn clause, an integrity constraint too, whose names are known; None stands for any other clause."""
    parts = horn_parts(clause)
    if parts is None:
        return None
    body, head = parts
    variables: dict[str, int] = {}
    constants: dict[str, int] = {}

    def number(term: Term) -> int:
        if isinstance(term, Variable):
            return variables.setdefault(term.name, len(variables))
        return ~constants.setdefault(term.name, len(constants))

    atoms = (*body, head) if isinstance(head, Atom) else body
    shape = _shape(tuple(number(term) for atom in atoms for term in (atom.subject, atom.object)), len(body))
    relation_ids = tuple(relations.id(atom.relation) for atom in atoms)
    return Rule(shape, relation_ids, tuple(entities.id(name) for name in constants), clause)


@lru_cache(maxsize=10_000)
def _shape(numbers: tuple[int, ...], body: int) -> RuleShape:
    """Return the shape whose terms have these numbers: 0, 1 … for variables, ~0, ~1 … for constants.

    Files hold many rules of few shapes: each is made once.
    """
    slots = [Slot("variable", number) if number >= 0 else Slot("constant", ~number) for number in numbers]
    atoms = tuple(AtomShape(index, *slots[2 * index : 2 * index + 2]) for index in range(len(slots) // 2))
    return RuleShape(atoms[:body], atoms[body] if body < len(atoms) else Falsum())
