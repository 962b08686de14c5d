"""The set of parameters with which hard clauses hold for every vector, and how a model is kept inside it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from clausal.adversary.hard.demands import Below, ClassBelow, Demand
from clausal.adversary.hard.projection import Projection
from clausal.adversary.hard.structure import Demands, structure_of
from clausal.fast import fastest
from clausal.model.encoders import Table
from clausal.model.orders import Orbits, ParameterOrder, parameter_order
from clausal.model.predictor import LinkPredictor


@dataclass(frozen=True, eq=False)
class Family:
    """Numbers of a table that obey one structure in each of many columns."""

    of_entities: bool
    places: Tensor  # [nodes, columns], where they lie in the table's memory
    projection: Projection


class FeasibleSet:
    """What demands leave of a model's parameters: equalities and orders in every component.

    ``equalities`` makes equalities of all demands, as domains with negative numbers need them.
    """

    def __init__(self, predictor: LinkPredictor, demands: Sequence[Demand], *, equalities: bool) -> None:
        order = parameter_order(predictor.scorer)
        assert order is not None
        device = predictor.device
        self.families = [
            *_relation_families(predictor, order, demands, equalities, device),
            *_class_families(predictor, order, [one for one in demands if isinstance(one, ClassBelow)], device),
        ]

    @torch.no_grad()
    def project_(self, predictor: LinkPredictor) -> None:
        """Move the parameters of a model into the set."""
        for family in self.families:
            table = predictor.relations
            if family.of_entities:
                assert isinstance(predictor.encoder, Table)
                table = predictor.encoder.weight
            family.projection.project_(table.detach().view(-1), family.places)


def _relation_families(
    predictor: LinkPredictor,
    order: ParameterOrder,
    demands: Iterable[Demand],
    equalities: bool,
    device: torch.device,
) -> Iterator[Family]:
    demands = list(dict.fromkeys(demands))
    for orbits in order.orbits:
        members = len(orbits.columns)
        node: dict[tuple[int, int], int] = {}  # (row, member)
        asked = Demands(0)
        for demand in demands:
            for member in range(members):
                _ask(asked, node, demand, orbits, member, equalities)
        asked.nodes = len(node)
        if not node or not orbits.columns.numel():
            continue
        rows = torch.tensor([row for row, _ in node]).unsqueeze(1)
        columns = orbits.columns[[member for _, member in node]]
        places = rows * predictor.scorer.relation_dim + columns
        yield Family(False, places.to(device), _projection(asked, device))


def _ask(
    asked: Demands, node: dict[tuple[int, int], int], demand: Demand, orbits: Orbits, member: int, equalities: bool
) -> None:
    """Say what a demand asks of one member of each orbit."""
    if isinstance(demand, ClassBelow):
        own = node.setdefault((demand.relation, member), len(node))
        (asked.zero if orbits.equal else asked.non_negative).add(own)
        return
    other = len(orbits.columns) - 1 - member if demand.turned else member
    body = node.setdefault((demand.body, member), len(node))
    head = node.setdefault((demand.head, other), len(node))
    if orbits.equal or equalities:
        asked.equal.append((body, head, orbits.sign if demand.turned else 1))
    else:
        asked.below.append((body, head))


def _class_families(
    predictor: LinkPredictor, order: ParameterOrder, demands: Sequence[ClassBelow], device: torch.device
) -> Iterator[Family]:
    alike = torch.equal(order.subjects, order.objects)
    for argument in (0,) if alike else (0, 1):
        own = [demand for demand in demands if alike or demand.argument == argument]
        if not own:
            continue
        node: dict[int, int] = {}
        asked = Demands(0)
        for demand in own:
            lower, upper = (node.setdefault(entity, len(node)) for entity in (demand.body, demand.head))
            asked.below.append((lower, upper))
        asked.nodes = len(node)
        rows, columns = torch.tensor(list(node)).unsqueeze(1), order.objects if argument else order.subjects
        yield Family(True, (rows * predictor.scorer.dim + columns).to(device), _projection(asked, device))


def _projection(asked: Demands, device: torch.device) -> Projection:
    given = structure_of(asked), device
    return fastest(Projection, *given)(*given)


def holds_by_order(
    predictor: LinkPredictor, order: ParameterOrder, demands: Iterable[Demand], *, non_negative: bool
) -> bool:
    """Tell whether parameters obey demands as they stand, to the last bit, so that no vector can break them.

    With ``non_negative``, no vector has a negative number; else only equalities prove anything.
    """
    return all(_obeyed(predictor, order, demand, non_negative) for demand in demands)


def _obeyed(predictor: LinkPredictor, order: ParameterOrder, demand: Demand, non_negative: bool) -> bool:
    if isinstance(demand, Below):
        if demand.turned and not order.transposes:
            return False
        return all(_ordered(predictor, orbits, demand, non_negative) for orbits in order.orbits)
    lower, upper = predictor.encode(torch.tensor([demand.body, demand.head], device=predictor.device))
    columns = (order.objects if demand.argument else order.subjects).to(predictor.device)
    if torch.equal(lower[columns], upper[columns]):
        return True
    if not non_negative or not bool((lower[columns] <= upper[columns]).all()):
        return False
    relation = predictor.relations[demand.relation]
    return all(_non_negative(relation[one.columns.to(relation.device)], one.equal) for one in order.orbits)


def _non_negative(parameters: Tensor, zero: bool) -> bool:
    return bool((parameters == 0).all() if zero else (parameters >= 0).all())


def _ordered(predictor: LinkPredictor, orbits: Orbits, demand: Below, non_negative: bool) -> bool:
    columns = orbits.columns.to(predictor.device)
    body = predictor.relations[demand.body][columns]
    head = predictor.relations[demand.head][columns.flip(0) if demand.turned else columns]
    if demand.turned:
        head = orbits.sign * head
    return bool((body <= head).all()) if non_negative and not orbits.equal else torch.equal(body, head)
