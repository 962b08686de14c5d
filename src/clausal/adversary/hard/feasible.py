"""The set of parameters with which hard clauses hold for every vector, and how a model is kept inside it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from clausal.adversary.hard.conditions import Condition, Node, classes_below, conditions_of, non_negative
from clausal.adversary.hard.demands import Below, ClassesBelow, Demand
from clausal.adversary.hard.projection import Projection
from clausal.adversary.hard.structure import Demands, structure_of
from clausal.fast import fastest
from clausal.model.encoders import Table
from clausal.model.orders import Orbits, ParameterOrder
from clausal.model.predictor import LinkPredictor

Metric = Callable[[Tensor], Tensor | None]
"""Returns the sums of squared gradients of a parameter, by whose roots changes count, or None where all count alike."""


@dataclass(frozen=True, eq=False)
class Family:
    """Numbers of a table that obey one structure in each of many columns."""

    of_entities: bool
    places: Tensor  # [nodes, columns], where they lie in the table's memory
    projection: Projection


class FeasibleSet:
    """What demands leave of a model's parameters: equalities, orders and balances in every component.

    ``metric`` says which changes count more than others, as the optimiser that makes the steps counts them.
    """

    def __init__(self, predictor: LinkPredictor, order: ParameterOrder, demands: Sequence[Demand]) -> None:
        self.metric: Metric | None = None
        demands = list(dict.fromkeys(demands))
        self.connected = _connected(demands, predictor.num_relations)
        self.excluded = _excluded(demands, predictor.num_relations)
        self.families = [
            *_relation_families(predictor, order, demands),
            *_class_families(predictor, order, [one for one in demands if isinstance(one, ClassesBelow)]),
        ]

    @torch.no_grad()
    def project_(self, predictor: LinkPredictor) -> None:
        """Move the parameters of a model into the set."""
        for family in self.families:
            table = predictor.relations
            if family.of_entities:
                assert isinstance(predictor.encoder, Table)
                table = predictor.encoder.weight
            squares = None if self.metric is None else self.metric(table)
            flat = None if squares is None else squares.view(-1)
            family.projection.project_(table.detach().view(-1), family.places, flat)

    def __deepcopy__(self, memo: dict[int, Any]) -> FeasibleSet:
        """Copies of a model share it, with its metric."""
        return self


def _connected(demands: Sequence[Demand], relations: int) -> list[set[int]]:
    """Return the relations that demands compare with each other, directly or through others."""
    found: list[set[int]] = []
    for demand in demands:
        if isinstance(demand, Below):
            alike = {matrix.relation % relations for matrix in demand.matrices}
            alike = alike.union(*(one for one in found if one & alike))
            found = [one for one in found if not one & alike] + [alike]
    return found


def _excluded(demands: Sequence[Demand], relations: int) -> set[int]:
    """Return the relations of which demands without a head say that some score is not above 0."""
    return {
        matrix.relation % relations
        for demand in demands
        if isinstance(demand, Below) and not demand.heads
        for matrix in demand.bodies
    }


def _relation_families(predictor: LinkPredictor, order: ParameterOrder, demands: Sequence[Demand]) -> Iterator[Family]:
    for orbits in order.orbits:
        asked = (one for demand in demands for one in _conditions(demand, orbits))
        yield from _family(predictor, False, asked, predictor.scorer.relation_dim, orbits.columns)


def _class_families(
    predictor: LinkPredictor, order: ParameterOrder, demands: Sequence[ClassesBelow]
) -> Iterator[Family]:
    alike = torch.equal(order.subjects, order.objects)
    for argument in (0,) if alike else (0, 1):
        own = [demand for demand in demands if alike or demand.argument == argument]
        asked = (one for demand in own for one in classes_below(demand.bodies, demand.head))
        columns = _of_classes(order, argument)
        yield from _family(predictor, True, asked, predictor.scorer.dim, columns.unsqueeze(0))


def _conditions(demand: Demand, orbits: Orbits) -> Iterator[Condition]:
    """Say what a demand asks of relation parameters."""
    if isinstance(demand, Below):
        return conditions_of(demand, orbits)
    return non_negative(demand.relation, orbits)


def _family(
    predictor: LinkPredictor, of_entities: bool, conditions: Iterable[Condition], width: int, columns: Tensor
) -> Iterator[Family]:
    """Return the family of all numbers that conditions speak of, in a table of rows of a width; none for none."""
    node: dict[Node, int] = {}
    asked = Demands(0, within=of_entities)  # which is inside their domain
    for condition in conditions:
        _ask(asked, condition, [(node.setdefault(one, len(node)), factor) for one, factor in condition.terms])
    asked.nodes = len(node)
    if not node or not columns.numel():
        return
    rows = torch.tensor([row for row, _ in node]).unsqueeze(1)
    places = (rows * width + columns[[member for _, member in node]]).to(predictor.device)
    given = structure_of(asked), predictor.device
    yield Family(of_entities, places, fastest(Projection, *given)(*given))


def _ask(asked: Demands, condition: Condition, terms: list[tuple[int, int]]) -> None:
    """Note a condition on numbered numbers by its kind."""
    factors = [factor for _, factor in terms]
    if condition.equal and len(terms) == 1:
        asked.zero.add(terms[0][0])
    elif condition.equal:
        asked.equal.append((terms[0][0], terms[1][0], -factors[0] * factors[1]))
    elif max(factors) < 0:  # each of them, which is more than their sum where there are two
        asked.non_negative.update(one for one, _ in terms)
    elif condition.ordered:
        lower, upper = sorted(terms, key=lambda term: -term[1])
        asked.below.append((lower[0], upper[0]))
    else:
        asked.balances.append(tuple(terms))


def _of_classes(order: ParameterOrder, argument: int) -> Tensor:
    """Return the numbers of a vector in a place that can be ordered; a relation of classes is 0 at the rest."""
    columns = order.objects if argument else order.subjects
    return columns[order.never_negative[columns]]


def holds_by_order(predictor: LinkPredictor, order: ParameterOrder, demands: Iterable[Demand]) -> bool:
    """Tell whether parameters obey demands as they stand, to the last bit, so that no vector can break them."""
    return all(_obeyed(predictor, order, demand) for demand in demands)


def _obeyed(predictor: LinkPredictor, order: ParameterOrder, demand: Demand) -> bool:
    def all_proven() -> bool:
        return all(
            one.proven(lambda node, orbits=orbits: predictor.relations[node[0]][orbits.columns[node[1]].to(device)])  # type: ignore[misc]
            for orbits in order.orbits
            for one in _conditions(demand, orbits)
        )

    device = predictor.device
    if isinstance(demand, Below):
        if not order.transposes and any(matrix.way == "turned" for matrix in demand.matrices):
            return False
        return all_proven()
    every = (order.objects if demand.argument else order.subjects).to(device)
    columns = _of_classes(order, demand.argument).to(device)

    def vector(entity: int) -> Tensor:
        return predictor.encode(torch.tensor(entity, device=device))

    if all(torch.equal(vector(one)[every], vector(demand.head)[every]) for one in demand.bodies):
        return True
    ordered = all(
        one.proven(lambda node: vector(node[0])[columns]) for one in classes_below(demand.bodies, demand.head)
    )
    return ordered and all_proven()
