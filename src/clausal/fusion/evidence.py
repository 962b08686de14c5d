"""Evidence for answers beside the model's score: votes of rules, how frequent an entity is, whether two are linked."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from clausal.fusion.lists import Ids, Reals
from clausal.graph.graph import Facts
from clausal.logic.mining import SOME, AttributeRules, Edges, PathRules, RuleVotes, Votes

Floats = NDArray[np.float32]

MODEL = "model"
BEST = ("best path", "best attribute of the question", "best attribute of the answer")
ALL = ("all paths", "all attributes of the question", "all attributes of the answer")
VOTES = (*BEST, *ALL)
SEEN, FREQUENCY, LINKED = "seen", "frequency", "linked"
FEATURES = (MODEL, *VOTES, SEEN, FREQUENCY, LINKED)
"""What a fused score can weigh, in this order."""
_VOTES = slice(1, 1 + len(VOTES))
_MOST_CONSTANTS = 5_000_000
"""Rules with constants that vote beside a model, at most."""


@dataclass(frozen=True, eq=False)
class VotingRules:
    """The rules that vote: those whose body is a path, and those with constants."""

    paths: PathRules
    attributes: AttributeRules

    def __len__(self) -> int:
        return len(self.paths) + len(self.attributes)

    @cached_property
    def beside_a_model(self) -> AttributeRules:
        """The rules with constants that vote beside a model: those that are surer than the frequency of their answer.

        How frequent an answer is, is a feature of its own, and votes that repeat it only blur the others. Where rules
        rank alone, all of them vote. Of very many, those with little support are left out.
        """
        rules = self.attributes.select(_surer_than_frequency(self.attributes) & self.attributes.says_more)
        least = 2
        while len(rules) > _MOST_CONSTANTS:
            least += 1
            rules = rules.select(rules.support >= least)
        return rules


def _surer_than_frequency(rules: AttributeRules) -> NDArray[np.bool_]:
    """Say of each rule r(X, c) <= … whether it is surer of c than one knows without it: by c's share among all r's."""
    some = rules.attribute_entity == SOME
    holders = np.ones(2 * rules.relations)
    holders[rules.attribute_label[some]] = np.maximum(1, rules.entities_with[some])
    share = rules.entities_with / holders[rules.attribute_label]
    surer: NDArray[np.bool_] = rules.confidence > share[rules.heads]
    return surer


def vote_features(votes: Votes) -> Floats:
    """Return the features of the answers that rules vote for [answers, 6], in the order of ``VOTES``.

    The best confidence p of a kind counts log(1 + 100 p), and all confidences together log(1 + Σ −log(1 − p)).
    """
    return np.concatenate([np.log1p(100 * votes.best), np.log1p(votes.doubt)], axis=1)


class Evidence:
    """What speaks for the answers to questions in the facts of train: questions are (entity, label, ?).

    A label below the number of relations asks for objects, the others for subjects.
    """

    def __init__(self, train: Facts, entities: int, relations: int, rules: VotingRules) -> None:
        self.entities, self.relations, self.rules = entities, relations, rules
        self.edges = Edges(train, entities, relations)

    @cached_property
    def voting(self) -> RuleVotes:
        """The rules that vote beside a model, ready to vote."""
        return RuleVotes(self.edges, self.rules.paths, self.rules.beside_a_model)

    @cached_property
    def voting_alone(self) -> RuleVotes:
        """All rules, ready to vote without a model."""
        return RuleVotes(self.edges, self.rules.paths, self.rules.attributes, alone=True)

    def frequency(self, label: int) -> Floats:
        """Return log(1 + how many facts of a relation have each entity in the place that is asked for)."""
        targets = self.edges.of_label[label][1]
        return np.log1p(np.bincount(targets, minlength=self.entities)).astype(np.float32)

    def linked(self, entities: Ids) -> tuple[Ids, Ids]:
        """Return the pairs (place of the question, entity) of all entities that share a fact with that asked about."""
        first = np.searchsorted(self.edges.pairs, entities * self.entities)
        last = np.searchsorted(self.edges.pairs, (entities + 1) * self.entities)
        rows = np.repeat(np.arange(len(entities)), last - first)
        before = np.cumsum(last - first) - (last - first)
        places = np.arange(len(rows)) + (first - before)[rows]
        return rows, self.edges.pairs[places] % self.entities

    def added(self, entities: Ids, labels: Ids, weights: Reals) -> Floats:
        """Return what the evidence adds to the scores of all entities [questions, entities].

        ``weights`` are those of the questions, [questions, features]; that of the model is not used here.
        """
        added = np.zeros((len(entities), self.entities), np.float32)
        if weights[:, _VOTES].any():
            votes = self.voting.votes(entities, labels)
            rows = np.repeat(np.arange(len(entities)), np.diff(votes.starts))
            added[rows, votes.answers] = np.einsum("nk,nk->n", vote_features(votes), weights[rows, _VOTES])
        for label in np.unique(labels):
            here = np.flatnonzero(labels == label)
            seen, frequency = weights[here[0], -3:-1].astype(np.float32)
            if seen or frequency:
                values = self.frequency(int(label))
                added[here] += frequency * values + seen * (values > 0)
        if weights[:, -1].any():
            rows, others = self.linked(entities)
            added[rows, others] += weights[rows, -1].astype(np.float32)
        return added
