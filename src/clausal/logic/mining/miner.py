"""Mining: which Horn clauses of two or three atoms hold in a graph, and how often, by AMIE's measures."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from clausal.errors import InputError
from clausal.graph import Graph
from clausal.logic.mining.counts import ChainsInto, Supports, chain_supports, one_atom_sizes, one_atom_supports
from clausal.logic.mining.edges import Edges, Ids
from clausal.logic.mining.mined_rule import MinedRule, chain, one_atom
from clausal.logic.syntax import Atom
from clausal.observer import Observer, replaces

_TITLES = {"head_coverage": "head coverage", "confidence": "confidence", "pca": "PCA confidence"}
_ROUNDING = 1e-9  # bounds only save work and are a little wide; the thresholds themselves are compared exactly


@dataclass(frozen=True)
class _Thresholds:
    support: int
    head_coverage: float
    confidence: float
    pca_confidence: float

    def least_support(self, facts: int) -> int:
        return max(self.support, math.ceil(self.head_coverage * facts - _ROUNDING))

    def admit(self, rule: MinedRule) -> bool:
        """Compare a rule with the thresholds; facts that it predicts only from themselves do not speak for it."""
        support = rule.support - rule.circular
        return (
            support / rule.head_facts >= self.head_coverage
            and support / (rule.body_pairs - rule.circular) >= self.confidence
            and support / (rule.pca_pairs - rule.circular) >= self.pca_confidence
        )


@replaces(progress=("advanced", lambda what, done, total, unit: (what, done, total)))
def mine(
    graph: Graph,
    *,
    min_support: int = 10,
    min_head_coverage: float = 0.01,
    min_confidence: float = 0.5,
    min_pca_confidence: float = 0.0,
    max_body: int = 2,
    observer: Observer | None = None,
) -> list[MinedRule]:
    """Find the Horn clauses that hold often enough in a graph's train facts, the most confident first.

    These are all clauses with one body atom, ``b(X, Y) => h(X, Y)`` and ``b(X, Y) => h(Y, X)``, and with
    ``max_body=2`` all with a chain of two, ``b(X, Y), c(Y, Z) => h(X, Z)``, with the terms of b and c in either order.
    Valid and test facts are not looked at.
    """
    _check(min_support, max_body, head_coverage=min_head_coverage, confidence=min_confidence, pca=min_pca_confidence)
    thresholds = _Thresholds(min_support, min_head_coverage, min_confidence, min_pca_confidence)
    edges = Edges(graph.train, len(graph.entities), len(graph.relations))
    rules = _Miner(edges, list(graph.relations), thresholds, observer or Observer()).rules(max_body)
    found = [rule for rule in rules if thresholds.admit(rule)]
    return sorted(found, key=lambda rule: (-rule.confidence, -rule.support, str(rule)))


@dataclass(frozen=True, eq=False)
class _Miner:
    edges: Edges
    names: list[str]
    thresholds: _Thresholds
    observer: Observer

    def rules(self, max_body: int) -> Iterator[MinedRule]:
        """Yield every rule with enough support; some that are not confident enough are left out early."""
        relations = self.edges.relations
        chains: list[tuple[int, Supports]] = []
        for relation in range(relations):
            # Seen from its more functional end, every head has the entity that the PCA asks about as its source.
            head = self.edges.most_functional(relation)
            least = self.thresholds.least_support(len(self.edges.of_label[head][0]))
            yield from self._one_atom_rules(head, one_atom_supports(self.edges, head, least))
            if max_body == 2:
                chains.append((head, chain_supports(self.edges, head, least)))
            self.observer.advanced("support", relation + 1, relations, "relations")
        if chains:
            yield from self._chains(chains)

    def _one_atom_rules(self, head: int, found: Supports) -> Iterator[MinedRule]:
        relations = self.edges.relations
        for counts in zip(found.bodies, found.support, found.circular, strict=True):
            body, support, circular = map(int, counts)
            names = self.names[body % relations], self.names[head % relations]
            atoms = one_atom(*names, inverse=body // relations != head // relations)
            yield self._measured(atoms, head, support, *one_atom_sizes(self.edges, body, head), circular)

    def _chains(self, found: list[tuple[int, Supports]]) -> Iterator[MinedRule]:
        labels = 2 * self.edges.relations
        heads = np.repeat([head for head, _ in found], [len(supports.bodies) for _, supports in found])
        chains, support, circular = (
            np.concatenate([getattr(supports, name) for _, supports in found])
            for name in ("bodies", "support", "circular")
        )
        firsts, seconds = np.divmod(chains, labels)
        order = np.lexsort((firsts, seconds))
        ends = np.searchsorted(seconds[order], np.arange(labels + 1))
        for second in range(labels):
            rows = order[ends[second] : ends[second + 1]]
            if len(rows):
                into = ChainsInto(self.edges, second)
                for same_body in np.split(rows, np.flatnonzero(np.diff(firsts[rows])) + 1):
                    found_heads = heads[same_body], support[same_body], circular[same_body]
                    yield from self._chain_rules(into, int(firsts[same_body[0]]), second, *found_heads)
            self.observer.advanced("confidence", second + 1, labels, "relations")

    def _chain_rules(
        self, into: ChainsInto, first: int, second: int, heads: Ids, support: Ids, circular: Ids
    ) -> Iterator[MinedRule]:
        most, most_pca = (
            circular + (support - circular) * (1 + _ROUNDING) / least if least else np.full(len(heads), np.inf)
            for least in (self.thresholds.confidence, self.thresholds.pca_confidence)
        )
        sizes, sizes_pca = into.sizes(first, heads.tolist(), most, most_pca)
        for row in np.flatnonzero((sizes <= most) & (sizes_pca <= most_pca)):
            head = int(heads[row])
            atoms = self._chain_atoms(first, second, head)
            counts = (int(column[row]) for column in (support, sizes, sizes_pca, circular))
            yield self._measured(atoms, head, *counts)

    def _chain_atoms(self, first: int, second: int, head: int) -> tuple[tuple[Atom, ...], Atom]:
        relations = self.edges.relations
        if head >= relations:  # written from the head's subject, whichever end the counting began at
            first, second = ((label + relations) % (2 * relations) for label in (second, first))
        names = [self.names[label % relations] for label in (first, second, head)]
        return chain(*names, first_inverse=first >= relations, second_inverse=second >= relations)

    def _measured(
        self,
        atoms: tuple[tuple[Atom, ...], Atom],
        head: int,
        support: int,
        pairs: int,
        pca_pairs: int,
        circular: int,
    ) -> MinedRule:
        body, head_atom = atoms
        facts = len(self.edges.of_label[head][0])
        functional: Literal["subject", "object"] = "subject" if head < self.edges.relations else "object"
        return MinedRule(body, head_atom, support, facts, pairs, pca_pairs, functional, circular)


def _check(min_support: int, max_body: int, **shares: float) -> None:
    if min_support < 1:
        raise InputError(f"the least support is a number of facts of at least 1, not {min_support}")
    if max_body not in (1, 2):
        raise InputError(f"rules have one or two body atoms, not {max_body}")
    for name, share in shares.items():
        if not 0 <= share <= 1:
            raise InputError(f"the least {_TITLES[name]} is a share between 0 and 1, not {share:g}")
