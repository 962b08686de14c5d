"""Rules of both kinds in the columns that thresholds, order and pruning look at, and as rules with names."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from clausal.graph import Graph
from clausal.logic.intervals import among, wilson_lower
from clausal.logic.mining.attribute_rules import SOME, AttributeRules, Attributes
from clausal.logic.mining.cover import facts_of_path, not_covered
from clausal.logic.mining.edges import Edges, Ids
from clausal.logic.mining.mined_rule import MinedRule, labelled_atom, path_atoms
from clausal.logic.mining.path_rules import PathRules, Reals
from clausal.logic.mining.walks import Walks
from clausal.logic.syntax import Atom, Constant, Variable

_MOST_COMPARED = 20_000  # rules, the best by their lower bounds, that pruning looks at
_LEAST_NEW = 2


@dataclass(frozen=True, eq=False)
class FoundRules:
    """Mined rules with the names of a graph; rule i is path rule i, or behind those a rule with constants."""

    edges: Edges
    graph: Graph
    paths: PathRules
    constants: AttributeRules

    @cached_property
    def _attributes(self) -> Attributes:
        return Attributes.of(self.edges)

    @cached_property
    def _walks(self) -> Walks:
        return Walks.of(self.edges)

    @cached_property
    def _head_labels(self) -> Ids:
        of_constants = self.constants.attribute_label[self.constants.heads]
        return np.concatenate([self.paths.heads, of_constants])

    @cached_property
    def heads(self) -> Ids:
        """The relation of each head."""
        relations: Ids = self._head_labels % max(self.edges.relations, 1)
        return relations

    @cached_property
    def head_facts(self) -> Ids:
        """All facts of each head's relation."""
        facts: Ids = self.edges.sizes[self.heads]
        return facts

    @cached_property
    def support(self) -> Ids:
        """The facts that each rule predicts."""
        return _whole(np.concatenate([self.paths.support, self.constants.support]))

    @cached_property
    def pairs(self) -> Ids:
        """The predictions of each rule."""
        of_constants = self.constants.entities_with[self.constants.bodies]
        return _whole(np.concatenate([self.paths.pairs, of_constants]))

    @cached_property
    def known(self) -> Ids:
        """The predictions for an entity, at the functional end, of which some fact of the head is known."""
        subject = self.edges.from_subject[self.heads]
        paths = len(self.paths)
        of_paths = np.where(subject[:paths], self.paths.known[:, 0], self.paths.known[:, 1])
        known = np.concatenate([_whole(of_paths), self.pairs[paths:]])
        asks = subject[paths:] == (self._head_labels[paths:] < self.edges.relations)  # X is at the functional end
        for place in np.flatnonzero(asks):
            body, label = int(self.constants.bodies[place]), int(self._head_labels[paths + place])
            some = self._attributes.held(int(np.searchsorted(self._attributes.label, label)))
            known[paths + place] = len(np.intersect1d(self._attributes.held(body), some, assume_unique=True))
        at_least: Ids = np.maximum(known, self.support)
        return at_least

    @cached_property
    def share(self) -> Reals:
        """The share of the entities that each rule was counted from."""
        return np.append(self.paths.share, np.ones(len(self.constants)))

    @property
    def lower_bound(self) -> Reals:
        """A lower bound of each rule's confidence."""
        return wilson_lower(self.support * self.share, self.pairs * self.share)

    def ordered(self, chosen: Ids) -> Ids:
        """Return rules by confidence and support; then shorter ones first, in the order of the graph's relations."""
        confidence = self.support[chosen] / self.pairs[chosen]
        return chosen[np.lexsort((self._ties[chosen], -self.support[chosen], -confidence))]

    @cached_property
    def _ties(self) -> Ids:
        """Ranks of rules where confidence and support say nothing."""
        paths = self.paths
        ranks = np.empty(len(paths), np.int64)
        ranks[np.lexsort((*paths.bodies.T[::-1], paths.heads, paths.lengths))] = np.arange(len(paths))
        return np.append(ranks, len(paths) + np.arange(len(self.constants)))

    def pruned(self, chosen: Ids) -> Ids:
        """Choose the rules that are better than chance and predict facts that better ones do not."""
        cases = self.support * self.share, self.pairs * self.share
        able = chosen[wilson_lower(*cases, among(len(self.support)))[chosen] > self._chance[self.heads[chosen]]]
        bound = self.lower_bound
        atoms = np.append(self.paths.lengths, np.ones(len(self.constants), np.int64))
        order = able[np.lexsort((self._ties[able], atoms[able], -bound[able]))][:_MOST_COMPARED].tolist()
        kept = not_covered(order, self.heads, (self._predicted(place) for place in order), _LEAST_NEW)
        return np.array(kept, np.int64)

    @cached_property
    def _chance(self) -> Reals:
        """How often a pair of a subject and an object of each relation is a fact."""
        subjects, objects = self.edges.source_counts.reshape(2, -1).astype(np.float64)
        chance: Reals = self.edges.sizes[: self.edges.relations] / np.maximum(subjects * objects, 1)
        return chance

    def _predicted(self, place: int) -> Ids:
        """Return the facts that a rule predicts, as keys subject · entities + object."""
        if place < len(self.paths):
            return facts_of_path(self._walks, int(self.paths.heads[place]), self.paths.bodies[place])
        row = place - len(self.paths)
        body, head = int(self.constants.bodies[row]), int(self.constants.heads[row])
        both = np.intersect1d(self._attributes.held(body), self._attributes.held(head), assume_unique=True)
        entity, entities = int(self._attributes.entity[head]), self.edges.entities
        straight = int(self._attributes.label[head]) < self.edges.relations
        return both * entities + entity if straight else entity * entities + both

    def rule(self, place: int) -> MinedRule:
        """Return one rule with its names and measures."""
        body, head = self._path(place) if place < len(self.paths) else self._constant(place - len(self.paths))
        support, facts, pairs, known = (
            int(column[place]) for column in (self.support, self.head_facts, self.pairs, self.known)
        )
        functional: Literal["subject", "object"] = "subject" if self.edges.from_subject[self.heads[place]] else "object"
        return MinedRule(body, head, support, facts, pairs, known, functional, float(self.share[place]))

    def _path(self, place: int) -> tuple[tuple[Atom, ...], Atom]:
        names, relations = self.graph.relations, self.edges.relations
        labels = [int(label) for label in self.paths.bodies[place] if label >= 0]
        body = [(names[label % relations], label >= relations) for label in labels]
        return path_atoms(names[int(self.paths.heads[place])], body)

    def _constant(self, row: int) -> tuple[tuple[Atom, ...], Atom]:
        rules, relations = self.constants, self.edges.relations
        atoms = []
        for attribute in (int(rules.bodies[row]), int(rules.heads[row])):
            label, entity = int(rules.attribute_label[attribute]), int(rules.attribute_entity[attribute])
            term = Variable("Y") if entity == SOME else Constant(self.graph.entities[entity])
            name = self.graph.relations[label % relations]
            atoms.append(labelled_atom(name, label >= relations, Variable("X"), term))
        return (atoms[0],), atoms[1]


def _whole(counts: NDArray[Any]) -> Ids:
    """Return counts as whole numbers; estimates are rounded."""
    whole: Ids = np.rint(counts).astype(np.int64)
    return whole
