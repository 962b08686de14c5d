"""Clauses of a user as rules that vote: paths of up to three atoms and rules with constants, measured in train."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from clausal.fusion.evidence import VotingRules
from clausal.fusion.lists import Ids
from clausal.fusion.measuring import measure_paths
from clausal.graph.graph import Graph
from clausal.logic.mining import SOME, AttributeRules, Attributes, Edges, PathRules
from clausal.logic.mining.path_rules import MOST_ATOMS
from clausal.logic.rules import LeftOut, Rule, encode_rules
from clausal.logic.shape import AtomShape, Slot
from clausal.logic.syntax import Clause

_NO_VOTE = "no path from one variable of its head to the other, nor one atom with a constant: it cannot vote"
_UNSEEN = "train has no instance of its body or of its head: it cannot vote"


@dataclass(frozen=True, eq=False)
class ClauseRules:
    """The rules that clauses gave, and the clauses that cannot vote, with the reasons."""

    rules: VotingRules
    left_out: tuple[LeftOut, ...]


def rules_of_clauses(clauses: Sequence[Clause], graph: Graph, edges: Edges) -> ClauseRules:
    """Return the clauses that can vote as rules with their counts in train."""
    attributes = Attributes.of(edges)
    paths, pairs, left_out = _sorted_out(clauses, graph, attributes)
    return ClauseRules(VotingRules(_measured(edges, paths), _counted(attributes, pairs)), tuple(left_out))


def clauses_without_votes(clauses: Sequence[Clause], graph: Graph) -> list[LeftOut]:
    """Return the clauses that cannot vote, with the reasons."""
    edges = Edges(graph.train, len(graph.entities), len(graph.relations))
    return _sorted_out(clauses, graph, Attributes.of(edges))[-1]


def _sorted_out(
    clauses: Sequence[Clause], graph: Graph, attributes: Attributes
) -> tuple[list[tuple[int, tuple[int, ...]]], list[tuple[int, int]], list[LeftOut]]:
    """Return the paths, the pairs of attributes, and what is neither."""
    found = encode_rules(clauses, graph.entities, graph.relations)
    left_out = list(found.left_out)
    paths: list[tuple[int, tuple[int, ...]]] = []
    pairs: list[tuple[int, int]] = []
    for rule in found.rules:
        path, pair = _path(rule, attributes.relations), _attributes(rule, attributes.relations)
        if path is not None:
            paths.append(path)
        elif pair is None:
            left_out.append(LeftOut(rule.clause, _NO_VOTE))
        else:
            body, head = (_attribute_id(attributes, *one) for one in pair)
            if body is None or head is None or body == head:
                left_out.append(LeftOut(rule.clause, _UNSEEN))
            else:
                pairs.append((body, head))
    return paths, pairs, left_out


def joined_rules(parts: Sequence[VotingRules]) -> VotingRules:
    """Return the rules of all parts, each once."""
    first = parts[0].attributes
    paths = PathRules.joined(first.relations, [part.paths for part in parts], all(p.paths.complete for p in parts))
    rows = np.column_stack([paths.heads, paths.bodies])
    _, kept = np.unique(rows, axis=0, return_index=True)
    size = max(1, len(first.attribute_label))
    keys = np.concatenate([part.attributes.bodies * size + part.attributes.heads for part in parts])
    support = np.concatenate([part.attributes.support for part in parts])
    keys, places = np.unique(keys, return_index=True)
    attributes = _assembled(first, keys // size, keys % size, support[places])
    return VotingRules(paths.select(np.sort(kept)), attributes)


def _path(rule: Rule, relations: int) -> tuple[int, tuple[int, ...]] | None:
    """Return head and labels of a rule whose body is a path between the head's variables, all of them different."""
    head, body = rule.shape.head, list(rule.shape.body)
    if not isinstance(head, AtomShape) or rule.constants or not 1 <= len(body) <= MOST_ATOMS:
        return None
    here, target = head.slots
    seen: set[Slot] = {here}
    labels: list[int] = []
    while body:
        step = next((atom for atom in body if here in atom.slots), None)
        if step is None:
            return None
        body.remove(step)
        forwards = step.slots[0] == here
        here = step.slots[1 if forwards else 0]
        if here in seen:
            return None
        seen.add(here)
        labels.append(rule.relations[step.index] + (0 if forwards else relations))
    return (rule.relations[-1], tuple(labels)) if here == target and labels != [rule.relations[-1]] else None


def _attributes(rule: Rule, relations: int) -> tuple[tuple[int, int], tuple[int, int]] | None:
    """Return body and head of r(X, c) <= s(X, d) or r(X, c) <= s(X, Y) as pairs (label, entity)."""
    head = rule.shape.head
    if not isinstance(head, AtomShape) or len(rule.shape.body) != 1:
        return None
    found = []
    variables = [slot for slot in head.slots if slot.kind == "variable"]
    if len(variables) != 1:
        return None
    variable = variables[0]
    for atom in (rule.shape.body[0], head):
        if variable not in atom.slots or atom.slots[0] == atom.slots[1]:
            return None
        forwards = atom.slots[0] == variable
        other = atom.slots[1 if forwards else 0]
        entity = rule.constants[other.index] if other.kind == "constant" else SOME
        found.append((rule.relations[atom.index] + (0 if forwards else relations), entity))
    return found[0], found[1]


def _attribute_id(attributes: Attributes, label: int, entity: int) -> int | None:
    low, high = np.searchsorted(attributes.label, [label, label + 1])
    place = int(low + np.searchsorted(attributes.entity[low:high], entity))
    return place if place < high and attributes.entity[place] == entity else None


def _measured(edges: Edges, paths: Sequence[tuple[int, tuple[int, ...]]]) -> PathRules:
    bodies = np.full((len(paths), MOST_ATOMS), -1, np.int64)
    for row, (_, labels) in enumerate(paths):
        bodies[row, : len(labels)] = labels
    heads = np.array([head for head, _ in paths], np.int64)
    support, pairs, known = measure_paths(edges, heads, bodies)
    rules = PathRules(edges.relations, heads, bodies, support, pairs, known, np.ones(len(heads)))
    return PathRules.joined(edges.relations, [rules])


def _counted(attributes: Attributes, pairs: Sequence[tuple[int, int]]) -> AttributeRules:
    bodies, heads = np.array(pairs, np.int64).reshape(-1, 2).T
    first, holders = attributes.first_holder, attributes.holders
    support = [
        len(np.intersect1d(holders[first[body] : first[body + 1]], holders[first[head] : first[head + 1]]))
        for body, head in pairs
    ]
    nothing = np.empty(0, np.int64)
    empty = AttributeRules(
        *(attributes.relations, attributes.label, attributes.entity, np.diff(first)),
        *(np.zeros(len(attributes) + 1, np.int64), nothing, nothing),
    )
    return _assembled(empty, bodies, heads, np.array(support, np.int64))


def _assembled(like: AttributeRules, bodies: Ids, heads: Ids, support: Ids) -> AttributeRules:
    order = np.lexsort((heads, bodies))
    starts = np.searchsorted(bodies[order], np.arange(len(like.attribute_label) + 1))
    return AttributeRules(
        *(like.relations, like.attribute_label, like.attribute_entity, like.entities_with),
        *(starts, heads[order], support[order], like.complete),
    )
