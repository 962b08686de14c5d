"""A small synthetic knowledge base as in the paper: random facts, random clauses, and their closure by brute force."""

from __future__ import annotations

import itertools
import random
from dataclasses import dataclass

import numpy as np
import torch

from clausal.evaluation import evaluate_labelled
from clausal.graph import Graph, Names
from clausal.logic import And, Clause, Variable, horn_parts, parse_clause

ENTITIES, RELATIONS, PAIRS, FACTS_EACH = 30, 15, 90, 9
PATTERNS = {
    "implication": "{a}(X,Y) => {b}(X,Y)",
    "inverse": "{a}(X,Y) => {b}(Y,X)",
    "symmetry": "{a}(X,Y) => {a}(Y,X)",
    "transitivity": "{a}(X,Y), {a}(Y,Z) => {a}(X,Z)",
}


@dataclass(frozen=True)
class KnowledgeBase:
    """Train facts, clauses, and labelled facts: those that only the closure has, and as many that do not hold."""

    graph: Graph
    clauses: list[Clause]
    labelled: np.ndarray
    labels: np.ndarray

    def auc_pr(self, predictor) -> float:
        return evaluate_labelled(predictor, self.labelled, self.labels)["auc_pr"]


def knowledge_base(kind: str, seed: int = 0, clauses: int = 10) -> KnowledgeBase:
    """Draw 135 facts over 90 pairs of 30 entities, and clauses of one kind about distinct relations."""
    rng = random.Random(seed)
    pairs = rng.sample([(x, y) for x in range(ENTITIES) for y in range(ENTITIES) if x != y], PAIRS)
    facts = {(x, r, y) for r in range(RELATIONS) for x, y in rng.sample(pairs, FACTS_EACH)}
    names = Names([f"e{i:02}" for i in range(ENTITIES)], "entity")
    relations = Names([f"r{i:02}" for i in range(RELATIONS)], "relation")
    choices = [(a, b) for a in relations for b in relations if a != b]
    texts = dict.fromkeys(PATTERNS[kind].format(a=a, b=b) for a, b in rng.sample(choices, len(choices)))
    chosen = [parse_clause(text) for text in itertools.islice(texts, clauses)]
    deduced = closure(facts, chosen, relations) - facts
    known_pairs = sorted({(x, y) for x, _, y in facts | deduced})
    false = [
        rng.choice([(x, r, y) for x, y in known_pairs if (x, r, y) not in facts | deduced])
        for _, r, _ in sorted(deduced)
    ]
    labelled = np.array([*sorted(deduced), *false], dtype=np.int32)
    labels = np.repeat([1, 0], len(deduced))
    graph = Graph(names, relations, np.array(sorted(facts), dtype=np.int32))
    return KnowledgeBase(graph, chosen, labelled, labels)


def closure(facts, clauses, relations):
    """Apply Horn clauses to every assignment that the facts allow until nothing is new."""
    known = set(facts)
    while True:
        new = {fact for clause in clauses for fact in _consequences(clause, known, relations)} - known
        if not new:
            return known
        known |= new


def _consequences(clause, known, relations):
    body, head = horn_parts(clause)
    bindings = [{}]
    for atom in body:
        relation = relations.id(atom.relation)
        bindings = [
            {**binding, atom.subject: x, atom.object: y}
            for binding in bindings
            for x, r, y in known
            if r == relation and binding.get(atom.subject, x) == x and binding.get(atom.object, y) == y
        ]
    return {(binding[head.subject], relations.id(head.relation), binding[head.object]) for binding in bindings}


def score_table(predictor) -> torch.Tensor:
    """Scores of every fact that could be [relations, subjects, objects]."""
    with torch.no_grad():
        relations = torch.arange(predictor.num_relations)
        return torch.stack(
            [
                predictor.score_objects(torch.arange(predictor.num_entities), relation.expand(predictor.num_entities))
                for relation in relations
            ]
        )


def mean_violation(predictor, clauses, relations) -> float:
    """The mean over clauses, and over all real entities as their variables, of [body − head]₊ in plain tensors."""
    table = score_table(predictor)
    letters = {Variable(name): letter for name, letter in zip("XYZ", "xyz", strict=True)}
    total = 0.0
    for clause in clauses:
        body, head = clause.formula.body, clause.formula.head
        atoms = body.formulas if isinstance(body, And) else (body,)
        used = "".join(sorted({letters[term] for atom in clause.atoms for term in atom.terms}))

        def over_all(atom, used=used):
            scores = table[relations.id(atom.relation)]
            places = [used.index(letters[term]) for term in atom.terms]
            scores = scores if places[0] < places[1] else scores.T
            return scores.reshape([len(scores) if place in places else 1 for place in range(len(used))])

        lowest = over_all(atoms[0])
        for atom in atoms[1:]:
            lowest = torch.minimum(lowest, over_all(atom))
        total += torch.relu(lowest - over_all(head)).mean().item()
    return total / len(clauses)
