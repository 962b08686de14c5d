"""Votes of rules: which answers path rules and rules with constants give to questions, and how sure they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clausal.logic.mining.attribute_rules import AttributeRules, Attributes
from clausal.logic.mining.compiling import in_threads, threads
from clausal.logic.mining.edges import Edges, Ids
from clausal.logic.mining.known_pairs import backwards
from clausal.logic.mining.path_rules import PathRules
from clausal.logic.mining.vote_counts import KINDS, OF_ANSWER, OF_QUESTION, PATH, count_votes
from clausal.logic.mining.walks import Walks

__all__ = ["KINDS", "OF_ANSWER", "OF_QUESTION", "PATH", "RuleVotes", "Votes"]

_AT_ONCE = 64  # questions that a thread answers together
Floats = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Votes:
    """The answers that rules vote for: those of question q are ``starts[q] … starts[q + 1] - 1``, by entity.

    ``best`` and ``doubt`` have a column for each kind of vote (PATH, OF_QUESTION, OF_ANSWER): the highest confidence,
    and the sum of −log(1 − confidence), the noisy-or. ``top`` are the highest confidences of all kinds, in descending
    order and then 0, and ``rules`` the rules that gave them, then −1. Rule i below ``paths`` is a path rule,
    ``paths + j`` rule j with constants by an attribute of the entity that is asked about, and ``paths + constants + j``
    the same by an attribute of the answer.
    """

    starts: Ids
    answers: NDArray[np.int32]
    best: Floats
    doubt: Floats
    top: Floats
    rules: NDArray[np.int32]

    def levels(self) -> Ids:
        """Say of each answer how many steps it stands above the last of its question; answers that tie share a step.

        The highest confidence decides; of two that are equal, the second highest, and so on, as in AnyBURL.
        """
        question = np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))
        order = np.lexsort((*self.top.T[::-1], question))
        better = (np.diff(self.top[order], axis=0) != 0).any(axis=1)
        steps = np.append(0, np.cumsum(better))[: len(order)]
        levels = np.empty(len(order), np.int64)
        levels[order] = steps - steps[self.starts[question[order]]]
        return levels


class RuleVotes:
    """Lets rules vote on answers, walking the facts that they were mined from, or others.

    ``alone``: nothing else ranks, so rules with vague bodies count less, and decide where no other rule votes.
    """

    def __init__(
        self, edges: Edges, paths: PathRules, attributes: AttributeRules | None = None, *, alone: bool = False
    ) -> None:
        self.paths, self.attributes = paths, attributes
        walks = Walks.of(edges)
        self._walks = (walks.targets, walks.group_source, walks.group_label, walks.group_start, walks.first_group)
        self._paths = _by_label(paths)
        self._constants = _constants(edges, attributes, alone)

    def votes(self, entities: Ids, labels: Ids, *, top: int = 1) -> Votes:
        """Answer the questions (entity, label, ?): a label below the number of relations asks for objects.

        Of each answer the ``top`` best rules are kept by name.
        """
        size = max(1, min(_AT_ONCE, -(-len(entities) // threads())))
        parts = [slice(start, start + size) for start in range(0, len(entities), size)]
        arrays = (top, *self._walks, *self._paths, *self._constants)

        def work(part: slice) -> Any:
            return count_votes(entities[part].astype(np.int64), labels[part].astype(np.int64), *arrays)

        done = {part.start: found for part, found in in_threads(work, parts)}
        found = [done[part.start] for part in parts] or [work(slice(0, 0))]
        counts, *columns = (np.concatenate(column) for column in zip(*found, strict=True))
        return Votes(np.append(0, np.cumsum(counts)), *columns)


def _by_label(paths: PathRules) -> tuple[Any, ...]:
    """Return the path rules by the label that is asked for, both ways, then by their bodies."""
    labels = 2 * paths.relations
    heads = np.concatenate([paths.heads, paths.heads + paths.relations])
    bodies = np.concatenate([paths.bodies, backwards(paths.bodies, paths.relations)])
    confidence = paths.answer_confidence.T.ravel().astype(np.float32)
    order = np.lexsort((*bodies.T[::-1], heads))
    rule = order % max(len(paths), 1)
    starts = np.searchsorted(heads[order], np.arange(labels + 1))
    return starts, np.ascontiguousarray(bodies[order]), confidence[order], rule


def _constants(edges: Edges, rules: AttributeRules | None, alone: bool) -> tuple[Any, ...]:
    """Return the attributes of the entities and the rules with constants, by body and by head."""
    attributes = Attributes.of(edges)
    if rules is None:
        nothing = np.zeros(len(attributes) + 1, np.int64)
        by_body = by_head = (nothing, np.empty(0, np.int64), np.empty(0, np.float32))
        rule = np.empty(0, np.int64)
    else:
        confidence = (rules.confidence_alone if alone else rules.confidence).astype(np.float32)
        rule = np.argsort(rules.heads, kind="stable")
        starts = np.searchsorted(rules.heads[rule], np.arange(len(attributes) + 1))
        by_body = (rules.body_starts, rules.heads, confidence)
        by_head = (starts, rules.bodies[rule], confidence[rule])
    labels = np.searchsorted(attributes.label, np.arange(2 * edges.relations + 1))
    return (
        *attributes.of_entity,
        *(attributes.first_holder, attributes.holders, labels, attributes.entity),
        *by_body,
        *(*by_head, rule),
    )
