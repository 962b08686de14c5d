"""The plan of a closure: Horn clauses over ids, rules of one shape side by side as the rows of one table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from clausal.graph import Names
from clausal.logic.check import check_clauses
from clausal.logic.shape import AtomShape, Slot, horn_parts
from clausal.logic.syntax import Atom, Clause, Constant, Falsum, Term, Variable


class LeftOut(NamedTuple):
    """A clause that derives no facts, and why."""

    clause: Clause
    reason: str


@dataclass(frozen=True)
class RuleShape:
    """What rules that differ only in relations and constants share; ``index`` of an atom is its relation's column."""

    body: tuple[AtomShape, ...]
    head: AtomShape
    constants: int


class Rule(NamedTuple):
    """One rule of a shape: the ids of its relations, body first and head last, and of its constants by slot."""

    relations: tuple[int, ...]
    constants: tuple[int, ...]


@dataclass(frozen=True)
class RuleGroup:
    """Rules of one shape, which one query applies together, however many they are."""

    shape: RuleShape
    rules: tuple[Rule, ...]

    def relations_at(self, position: int) -> set[int]:
        """Return the relations that occur at a position of the body."""
        return {rule.relations[position] for rule in self.rules}


@dataclass(frozen=True)
class Plan:
    """Groups of rules, and the clauses that are not among them."""

    groups: tuple[RuleGroup, ...]
    left_out: tuple[LeftOut, ...] = ()

    @property
    def relations(self) -> set[int]:
        """Every relation in a body or a head: facts of others take no part in any derivation."""
        return {relation for group in self.groups for rule in group.rules for relation in rule.relations}


def make_plan(clauses: Iterable[Clause], entities: Names, relations: Names) -> Plan:
    """Plan the closure under clauses; those that derive nothing are in ``left_out``, each with the reason.

    Clauses that do not fit the vocabulary are refused as ``check_clauses`` does. Equal rules are kept once.
    """
    clauses = list(clauses)
    check_clauses(clauses, entities, relations)
    groups: dict[RuleShape, dict[Rule, None]] = {}
    left_out = []
    for clause in clauses:
        parts = _rule_parts(clause)
        if isinstance(parts, str):
            left_out.append(LeftOut(clause, parts))
        else:
            shape, rule = _number(*parts, entities, relations)
            groups.setdefault(shape, {})[rule] = None
    return Plan(tuple(RuleGroup(shape, tuple(rules)) for shape, rules in groups.items()), tuple(left_out))


def _rule_parts(clause: Clause) -> tuple[tuple[Atom, ...], Atom] | str:
    """Return body and head of a clause that derives facts, or the reason why it does not."""
    parts = horn_parts(clause)
    if parts is None:
        return "not a Horn clause: expected atoms, an arrow and one atom"
    body, head = parts
    if isinstance(head, Falsum):
        return "a constraint: its head is false, so no fact follows from it"
    if not body and any(isinstance(term, Variable) for term in head.terms):
        return "no body that binds its variables"
    return body, head


def _number(body: Sequence[Atom], head: Atom, entities: Names, relations: Names) -> tuple[RuleShape, Rule]:
    variables: dict[Term, Slot] = {}
    constants: dict[Term, Slot] = {}

    def slot(term: Term) -> Slot:
        if isinstance(term, Constant):
            return constants.setdefault(term, Slot("constant", len(constants)))
        return variables.setdefault(term, Slot("variable", len(variables)))

    atoms = (*body, head)
    shapes = tuple(AtomShape(index, slot(atom.subject), slot(atom.object)) for index, atom in enumerate(atoms))
    rule = Rule(tuple(relations.id(atom.relation) for atom in atoms), tuple(entities.id(c.name) for c in constants))
    return RuleShape(shapes[:-1], shapes[-1], len(constants)), rule
