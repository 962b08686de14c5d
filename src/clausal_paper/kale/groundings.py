"""Ground rules: clauses with entities in place of their variables, all or most of whose atoms are facts of train."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from clausal.errors import InputError, RunError
from clausal.graph import Facts, Graph
from clausal.logic import Clause
from clausal.logic.closure.plan import RuleShape
from clausal.logic.proofs.index import FactIndex
from clausal.logic.proofs.join import ground
from clausal.logic.proofs.rules import ProofRule, rules_by_head
from clausal.logic.shape import AtomShape, Slot
from clausal_paper.kale.settings import Observed

_MOST = 20_000_000


@dataclass(frozen=True, eq=False)
class GroundRules:
    """Ground rules with equally many atoms, the body's first and the head last, and the rule that each is from.

    ``others`` lists for each rule the relations that are not in it, as many as ``other_count`` says.
    """

    atoms: NDArray[np.int32]  # [ground rules, body + 1, 3]
    rule: NDArray[np.int32]  # [ground rules]
    others: NDArray[np.int32]  # [rules, relations]
    other_count: NDArray[np.int32]  # [rules]

    def __len__(self) -> int:
        return len(self.atoms)


def ground_rules(
    graph: Graph, clauses: Iterable[Clause], observed: Observed = "premises", facts: Facts | None = None
) -> list[GroundRules]:
    """Ground Horn clauses over facts, those of train unless others are given; one item for each length of body.

    A ground rule is taken if its premises are facts; with ``all-but-one``, if all of its atoms but at most one are.
    """
    index = FactIndex(graph.train if facts is None else facts, len(graph.entities), len(graph.relations))
    by_length: dict[int, list[ProofRule]] = {}
    for rules in rules_by_head(clauses, graph.entities, graph.relations).values():
        for rule in rules:
            by_length.setdefault(len(rule.body), []).append(rule)
    return [_ground(index, rules, observed, len(graph.relations)) for _, rules in sorted(by_length.items())]


def _ground(index: FactIndex, rules: list[ProofRule], observed: Observed, relations: int) -> GroundRules:
    found = [_groundings(index, rule, observed) for rule in rules]
    sizes = [len(atoms) for atoms in found]
    others = [_others(rule, relations) for rule in rules]
    return GroundRules(
        atoms=np.concatenate(found),
        rule=np.repeat(np.arange(len(rules), dtype=np.int32), sizes),
        others=np.stack([np.resize(some, relations) for some in others]),
        other_count=np.array([len(some) for some in others], np.int32),
    )


def _groundings(index: FactIndex, rule: ProofRule, observed: Observed) -> NDArray[np.int32]:
    """Return the atoms of each ground rule of one rule. [ground rules, body + 1, 3]."""
    atoms = (*rule.body, rule.shape.head)
    constants = {Slot("constant", number): entity for number, entity in enumerate(rule.rule.constants)}
    ways = []
    for turned in _turned(rule, atoms) if observed == "all-but-one" else [rule]:
        found = ground(index, turned, range(len(turned.body)), constants, _MOST)
        if found.cut:
            raise RunError(
                f"more than {_MOST:,} ground rules of {rule.clause}: leave it out, or ground its premises alone"
            )
        slots = [slot for atom in atoms for slot in atom.slots]
        if all(slot in found.entities for slot in slots):  # else a variable could be any entity
            columns = [np.broadcast_to(found.entities[slot], found.count) for slot in slots]
            ways.append(np.stack(columns, 1).astype(np.int32) if found.count else np.empty((0, len(slots)), np.int32))
    entities = ways[0] if len(ways) == 1 else np.unique(np.concatenate(ways), axis=0)
    entities = entities.reshape(-1, len(atoms), 2)
    relations = np.broadcast_to(np.array(rule.rule.relations, np.int32)[:, None], (len(entities), len(atoms), 1))
    return np.concatenate([entities[:, :, :1], relations, entities[:, :, 1:]], axis=2)


def _turned(rule: ProofRule, atoms: tuple[AtomShape, ...]) -> Iterator[ProofRule]:
    """Yield the rule with each of its atoms in turn as the head: the one that need not be a fact."""
    for left_out in reversed(range(len(atoms))):
        order = [place for place in range(len(atoms)) if place != left_out] + [left_out]
        body, head = tuple(atoms[place] for place in order[:-1]), atoms[left_out]
        relations = tuple(rule.rule.relations[place] for place in order)
        shape = RuleShape(body, head, rule.shape.constants)
        yield ProofRule(rule.clause, shape, rule.rule._replace(relations=relations))


def _others(rule: ProofRule, relations: int) -> NDArray[np.int32]:
    others: NDArray[np.int32] = np.setdiff1d(np.arange(relations, dtype=np.int32), rule.rule.relations)
    if not len(others):
        raise InputError(f"{rule.clause}: KALE's negatives need a relation that is not in the rule, and there is none")
    return others
