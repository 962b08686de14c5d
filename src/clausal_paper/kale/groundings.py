"""Ground rules: clauses with entities in place of their variables, all or most of whose atoms are facts of train."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from clausal.errors import InputError, RunError
from clausal.graph import Facts, Graph
from clausal.logic import Clause, FactIndex, Rule, encode_rules, ground
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
    by_length: dict[int, list[Rule]] = {}
    for rules in encode_rules(clauses, graph.entities, graph.relations).by_head.values():
        for rule in rules:
            by_length.setdefault(len(rule.shape.body), []).append(rule)
    return [_ground_all(index, rules, observed, len(graph.relations)) for _, rules in sorted(by_length.items())]


def _ground_all(index: FactIndex, rules: list[Rule], observed: Observed, relations: int) -> GroundRules:
    found = [_ground_atoms(index, rule, observed) for rule in rules]
    sizes = [len(atoms) for atoms in found]
    others = [_relations_not_in(rule, relations) for rule in rules]
    return GroundRules(
        atoms=np.concatenate(found),
        rule=np.repeat(np.arange(len(rules), dtype=np.int32), sizes),
        others=np.stack([np.resize(some, relations) for some in others]),
        other_count=np.array([len(some) for some in others], np.int32),
    )


def _ground_atoms(index: FactIndex, rule: Rule, observed: Observed) -> NDArray[np.int32]:
    """Return the atoms of each ground rule of one rule. [ground rules, body + 1, 3]."""
    atoms = rule.shape.atoms
    slots = [slot for atom in atoms for slot in atom.slots]
    head = len(atoms) - 1
    ways = []
    for unobserved in reversed(range(len(atoms))) if observed == "all-but-one" else [head]:
        found = ground(index, rule, [place for place in range(len(atoms)) if place != unobserved], most=_MOST)
        if found.cut:
            raise RunError(
                f"more than {_MOST:,} ground rules of {rule.clause}: leave it out, or ground its premises alone"
            )
        if all(slot in found.entities for slot in slots):  # else a variable could be any entity
            columns = [np.broadcast_to(found.entities[slot], found.count) for slot in slots]
            ways.append(np.stack(columns, 1).astype(np.int32) if found.count else np.empty((0, len(slots)), np.int32))
    entities = ways[0] if len(ways) == 1 else np.unique(np.concatenate(ways), axis=0)
    entities = entities.reshape(-1, len(atoms), 2)
    relations = np.broadcast_to(np.array(rule.relations, np.int32)[:, None], (len(entities), len(atoms), 1))
    return np.concatenate([entities[:, :, :1], relations, entities[:, :, 1:]], axis=2)


def _relations_not_in(rule: Rule, relations: int) -> NDArray[np.int32]:
    others: NDArray[np.int32] = np.setdiff1d(np.arange(relations, dtype=np.int32), rule.relations)
    if not len(others):
        raise InputError(f"{rule.clause}: KALE's negatives need a relation that is not in the rule, and there is none")
    return others
