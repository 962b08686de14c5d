"""Rules with constants, in arrays: what has one attribute has another; millions of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from clausal.logic.intervals import wilson_lower
from clausal.logic.mining.edges import Edges, Ids
from clausal.logic.mining.path_rules import PRIOR, Reals
from clausal.logic.mining.walks import Walks

SOME = -1
"""Stands for an entity that does not matter: the attribute (s, SOME) is to have some edge s."""
_VAGUE = 0.1


@dataclass(frozen=True, eq=False)
class Attributes:
    """The attributes (label, entity) that entities have, sorted by both; (label, SOME) is the first of its label.

    Attribute a is had by ``holders[first_holder[a] : first_holder[a + 1]]``. No entity is an attribute of itself.
    """

    entities: int
    relations: int
    label: Ids
    entity: Ids
    first_holder: Ids
    holders: Ids

    @classmethod
    def of(cls, edges: Edges) -> Attributes:
        """Find the attributes in the edges of a graph."""
        walks = Walks.of(edges)
        group = walks.group_of_edge
        width = edges.entities + 1
        keys = np.concatenate(
            [walks.group_label[group] * width + walks.targets + 1, walks.group_label * width + (SOME + 1)]
        )
        holders = np.concatenate([walks.group_source[group], walks.group_source])
        order = np.lexsort((holders, keys))
        distinct, first = np.unique(keys[order], return_index=True)
        label, entity = np.divmod(distinct, width)
        return cls(
            *(edges.entities, edges.relations, label, entity - 1),
            *(np.append(first, len(keys)), holders[order]),
        )

    def __len__(self) -> int:
        return len(self.label)

    def held(self, attribute: int) -> Ids:
        """Return the entities that have an attribute, sorted."""
        return self.holders[self.first_holder[attribute] : self.first_holder[attribute + 1]]

    @cached_property
    def of_entity(self) -> tuple[Ids, Ids]:
        """Where the attributes of each entity begin, and the attributes by entity."""
        attribute = np.repeat(np.arange(len(self)), np.diff(self.first_holder))
        order = np.argsort(self.holders, kind="stable")
        return np.searchsorted(self.holders[order], np.arange(self.entities + 1)), attribute[order]


@dataclass(frozen=True, eq=False)
class AttributeRules:
    """Rules r(X, c) <= s(X, d), with labels r and s in both directions; d may be any entity (SOME).

    The rules of body a are ``body_starts[a] … body_starts[a + 1] - 1``, sorted by ``heads``, which are attributes too.
    ``support`` counts the entities that have both attributes and ``entities_with`` those that have the body's. The body
    (s, SOME) is also held by an entity that is asked for an answer of s.
    """

    relations: int
    attribute_label: Ids
    attribute_entity: Ids
    entities_with: Ids
    body_starts: Ids
    heads: Ids
    support: Ids
    complete: bool = True
    """Whether no time limit ended the search."""

    @classmethod
    def none(cls, edges: Edges) -> AttributeRules:
        """Return no rules."""
        empty = np.empty(0, np.int64)
        return cls(edges.relations, empty, empty, empty, np.zeros(1, np.int64), empty, empty)

    def __len__(self) -> int:
        return len(self.heads)

    @cached_property
    def bodies(self) -> Ids:
        """The attribute in the body of each rule."""
        return np.repeat(np.arange(len(self.attribute_label)), np.diff(self.body_starts))

    @property
    def confidence(self) -> Reals:
        """Smoothed confidence, which votes use: support / (entities with the body + 5)."""
        return self.support / (self.entities_with[self.bodies] + PRIOR)

    @property
    def confidence_alone(self) -> Reals:
        """The same, less where a body is vague: a tenth for (s, SOME), a hundredth for how frequent an answer is.

        Where rules rank alone, such rules decide among answers that no other rule is for, as in AnyBURL.
        """
        vague = np.where(self.attribute_entity[self.bodies] == SOME, _VAGUE, 1.0)
        return self.confidence * np.where(self.predicts_itself, _VAGUE**2, vague)

    @property
    def lower_bound(self) -> Reals:
        """Lower bound (95 %) of the share of entities with the body that have the head."""
        return wilson_lower(self.support, self.entities_with[self.bodies])

    @property
    def predicts_itself(self) -> NDArray[np.bool_]:
        """Whether the body is to have some edge of the head's label, which the head's fact is itself.

        Such a rule says how frequent an answer is. It is for questions, whose entity has some answer by assumption.
        """
        label, bodies = self.attribute_label, self.bodies
        itself: NDArray[np.bool_] = (self.attribute_entity[bodies] == SOME) & (label[bodies] == label[self.heads])
        return itself

    @property
    def says_more(self) -> NDArray[np.bool_]:
        """Whether s(X, d) => r(X, c) is surer than s(X, Y) => r(X, c); rules of the second kind say more anyway.

        Whoever has the attribute (s, d) has (s, SOME). A rule that says no more is never the best for an answer.
        """
        return self._surer_than_general(self.confidence)

    @property
    def says_more_alone(self) -> NDArray[np.bool_]:
        """The same where rules rank alone."""
        return self._surer_than_general(self.confidence_alone)

    def _surer_than_general(self, confidence: Reals) -> NDArray[np.bool_]:
        of_general, more = np.zeros(len(self.attribute_label)), np.ones(len(self), np.bool_)
        general = np.flatnonzero(self.attribute_entity == SOME)
        next_general = np.append(general, len(self.attribute_label))[1:]
        for start, special, end in self.body_starts[np.column_stack([general, general + 1, next_general])].tolist():
            of_general[self.heads[start:special]] = confidence[start:special]
            more[special:end] = confidence[special:end] > of_general[self.heads[special:end]]
            of_general[self.heads[start:special]] = 0.0
        return more

    def select(self, chosen: NDArray[np.bool_]) -> AttributeRules:
        """Return some of the rules, in their order."""
        kept = np.bincount(self.bodies[chosen], minlength=len(self.attribute_label))
        return AttributeRules(
            *(self.relations, self.attribute_label, self.attribute_entity, self.entities_with),
            *(np.append(0, np.cumsum(kept)), self.heads[chosen], self.support[chosen], self.complete),
        )
