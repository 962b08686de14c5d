"""Clauses that break a constraint ``body => false``: what follows from one body, tried on entities of its own."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from clausal.logic.shape import horn_parts
from clausal.logic.syntax import Atom, Clause, Constant, Falsum, Term, Variable

_MOST_RULES = 1000  # beyond which only what a clause says itself is followed, not what follows from that
_MOST_FACTS = 100  # derived from one body

_Value: TypeAlias = str | int
_Fact: TypeAlias = tuple[str, _Value, _Value]


@dataclass(frozen=True)
class Conflict:
    """Clauses that together derive what a constraint forbids, whenever the body of the first of them holds."""

    constraint: Clause
    clauses: tuple[Clause, ...]


@dataclass(frozen=True, eq=False)
class _Rule:
    clause: Clause
    body: tuple[Atom, ...]
    head: Atom | Falsum


def find_conflicts(clauses: Sequence[Clause]) -> list[Conflict]:
    """Return the clauses whose head, alone or through other clauses, breaks a constraint ``body => false``."""
    horn = [_Rule(clause, *parts) for clause in clauses if (parts := horn_parts(clause)) and parts[0]]
    constraints = [rule for rule in horn if isinstance(rule.head, Falsum)]
    rules = _leading_to(constraints, [rule for rule in horn if isinstance(rule.head, Atom)])
    followed: dict[str, list[_Rule]] = defaultdict(list)
    if len(rules) <= _MOST_RULES:
        for rule in rules:
            for relation in dict.fromkeys(atom.relation for atom in rule.body):
                followed[relation].append(rule)
    found: dict[tuple[int, frozenset[int]], Conflict] = {}
    for rule in rules:
        reasons = _derive(rule, followed)
        for constraint in constraints:
            proof = _proof_with(rule, constraint, reasons)
            if proof:
                key = id(constraint), frozenset(map(id, proof))
                found.setdefault(key, Conflict(constraint.clause, tuple(step.clause for step in proof)))
    return list(found.values())


def _leading_to(constraints: Sequence[_Rule], rules: Sequence[_Rule]) -> list[_Rule]:
    """Return the rules from which a relation of some constraint can be reached."""
    by_head: dict[str, list[_Rule]] = defaultdict(list)
    for rule in rules:
        assert isinstance(rule.head, Atom)
        by_head[rule.head.relation].append(rule)
    reached = {atom.relation for constraint in constraints for atom in constraint.body}
    waiting = list(reached)
    while waiting:
        new = {atom.relation for rule in by_head[waiting.pop()] for atom in rule.body} - reached
        reached |= new
        waiting += new
    return [rule for rule in rules if isinstance(rule.head, Atom) and rule.head.relation in reached]


def _derive(rule: _Rule, followed: dict[str, list[_Rule]]) -> dict[_Fact, tuple[_Rule, list[_Fact]] | None]:
    """Take the rule's body as facts about entities of its own; return what follows, with the reason for each."""
    frozen: dict[Term, _Value] = {}
    for term in (term for atom in rule.body for term in atom.terms if isinstance(term, Variable)):
        frozen.setdefault(term, len(frozen))  # a number is no entity's name
    reasons: dict[_Fact, tuple[_Rule, list[_Fact]] | None] = {_fact(atom, frozen): None for atom in rule.body}
    waiting = list(reasons)
    assert isinstance(rule.head, Atom)
    if all(isinstance(term, Constant) or term in frozen for term in rule.head.terms):
        head = _fact(rule.head, frozen)
        if head not in reasons:
            reasons[head] = rule, waiting.copy()
            waiting.append(head)
    while waiting and len(reasons) < _MOST_FACTS:
        relation = waiting.pop()[0]
        for other in followed.get(relation, ()):
            for where in list(_matches(other.body, list(reasons))):
                assert isinstance(other.head, Atom)
                if not all(isinstance(term, Constant) or term in where for term in other.head.terms):
                    continue
                fact = _fact(other.head, where)
                if fact not in reasons:
                    reasons[fact] = other, [_fact(atom, where) for atom in other.body]
                    waiting.append(fact)
    return reasons


def _proof_with(
    rule: _Rule, constraint: _Rule, reasons: dict[_Fact, tuple[_Rule, list[_Fact]] | None]
) -> list[_Rule] | None:
    """Return the rules that derive what the constraint forbids, the given one first, if it is among them."""
    for where in _matches(constraint.body, list(reasons)):
        steps: list[_Rule] = []
        waiting = [_fact(atom, where) for atom in constraint.body]
        while waiting:
            reason = reasons[waiting.pop()]
            if reason is not None and reason[0] not in steps:
                steps.append(reason[0])
                waiting += reason[1]
        if rule in steps:
            return [rule, *(step for step in steps if step is not rule)]
    return None


def _matches(body: Sequence[Atom], facts: Sequence[_Fact]) -> Iterator[dict[Term, _Value]]:
    """Yield the values of the variables under which every atom is a fact."""

    def extend(index: int, where: dict[Term, _Value]) -> Iterator[dict[Term, _Value]]:
        if index == len(body):
            yield where
            return
        atom = body[index]
        for relation, *values in facts:
            if relation != atom.relation:
                continue
            grown = dict(where)
            for term, value in zip(atom.terms, values, strict=True):
                wanted = term.name if isinstance(term, Constant) else grown.setdefault(term, value)
                if wanted != value:
                    break
            else:
                yield from extend(index + 1, grown)

    yield from extend(0, {})


def _fact(atom: Atom, where: dict[Term, _Value]) -> _Fact:
    subject, object = (term.name if isinstance(term, Constant) else where[term] for term in atom.terms)
    return atom.relation, subject, object
