"""Which clauses can be hard for a model, and why others cannot."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from clausal.adversary.clauses import ClauseGroup, group_clauses
from clausal.adversary.hard.demands import Below, ClassBelow, Demand, demands_of
from clausal.adversary.hard.feasible import FeasibleSet
from clausal.adversary.reciprocal import readings_of
from clausal.graph.vocabulary import Names
from clausal.logic.review.cycles import strongly_connected
from clausal.logic.syntax import Clause
from clausal.model.domains import is_non_negative
from clausal.model.encoders import FrozenTable, Table
from clausal.model.orders import ParameterOrder, parameter_order
from clausal.model.predictor import LinkPredictor

_SHOWN = 20


@dataclass(frozen=True, eq=False)
class HardClauses:
    """Clauses that a model cannot break, the set of parameters that keeps it so, and those it could not be done for."""

    clauses: list[Clause]
    refused: list[tuple[Clause, str]]
    feasible: FeasibleSet | None

    def describe(self) -> str:
        """Say how many clauses are hard, and which could not be, with the reasons; empty where there are none."""
        lines = []
        if self.clauses:
            count = len(self.clauses)
            lines.append(f"{count:,} clause{'' if count == 1 else 's'} hard: no entity, seen or not, can break them")
        if self.refused:
            verb = "is" if len(self.refused) == 1 else "are"
            lines.append(f"{len(self.refused):,} cannot be hard here, and {verb} trained softly:")
            for reason in dict.fromkeys(reason for _, reason in self.refused):
                alike = [clause for clause, own in self.refused if own == reason]
                lines += [f"  {reason}:", *(f"    {clause}" for clause in alike[:_SHOWN])]
                lines += [f"    and {len(alike) - _SHOWN:,} more"] if len(alike) > _SHOWN else []
        return "\n".join(lines)


def find_hard(
    clauses: Sequence[Clause], entities: Names, relations: Names, predictor: LinkPredictor, wanted: str
) -> HardClauses:
    """Choose the clauses that are to be hard: none, those ``marked`` or ``all``; as far as they can be."""
    chosen = [clause for clause in clauses if clause.weight and wanted != "none" and (clause.hard or wanted == "all")]
    if not chosen:
        return HardClauses([], [], None)
    found: dict[int, list[Demand]] = {}
    reasons: dict[int, str] = {}
    order = parameter_order(predictor.scorer)
    for clause, asked in asked_of(group_clauses(chosen, entities, relations), predictor):
        reason = asked if isinstance(asked, str) else _why_not(predictor, order, asked)
        if isinstance(reason, str):
            reasons[id(clause)] = reason
        else:
            assert not isinstance(asked, str)
            found[id(clause)] = asked
    equalities = not is_non_negative(predictor.domain)
    if equalities:
        reasons |= _not_equal(found, predictor)
    hard = [clause for clause in chosen if id(clause) in found]
    demands = [demand for clause in hard for demand in found[id(clause)]]
    feasible = FeasibleSet(predictor, demands, equalities=equalities) if hard else None
    return HardClauses(hard, [(one, reasons[id(one)]) for one in chosen if id(one) in reasons], feasible)


def asked_of(groups: Sequence[ClauseGroup], predictor: LinkPredictor) -> Iterator[tuple[Clause, list[Demand] | str]]:
    """Yield each clause of groups with what it asks for, in all its readings, or why it cannot be hard."""
    for group in groups:
        readings = readings_of([group], predictor)
        for place, clause in enumerate(group.clauses):
            yield clause, demands_of(readings, place)


def _why_not(predictor: LinkPredictor, order: ParameterOrder | None, asked: Sequence[Demand]) -> str | None:
    scorer = type(predictor.scorer).__name__
    if order is None:
        return f"{scorer} has no order of its relation parameters that decides scores"
    if any(isinstance(one, Below) and one.turned for one in asked) and not order.transposes:
        return f"{scorer} reads subject and object differently: only a body below 0 and a head above it obey an inverse"
    if not any(isinstance(one, ClassBelow) for one in asked):
        return None
    if not is_non_negative(predictor.domain):
        return f'classes can be ordered on vectors without negative numbers alone, not on "{predictor.domain.name}"'
    if predictor.of_pairs or not isinstance(predictor.encoder, Table) or isinstance(predictor.encoder, FrozenTable):
        return "classes can be ordered where entities have vectors that are trained, of their own"
    return None


def _not_equal(found: dict[int, list[Demand]], predictor: LinkPredictor) -> dict[int, str]:
    """Take out, with the reason, what would make relations equal that clauses do not make equivalent.

    A relation is a node for each direction in which it is read; clauses on a cycle of these say the same.
    """
    refused: dict[int, str] = {}
    reason = (
        f'on the domain "{predictor.domain.name}" it would force both relations to be equal: write <=> if they are, '
        'or use the domain "cube" or "cone"'
    )
    while True:
        edges: dict[tuple[int, bool], set[tuple[int, bool]]] = defaultdict(set)
        for one in (demand for asked in found.values() for demand in asked if isinstance(demand, Below)):
            for way in (False, True):
                edges[one.body, way].add((one.head, way != one.turned))
        part = {node: number for number, nodes in enumerate(strongly_connected(edges)) for node in nodes}
        wrong = [
            key
            for key, asked in found.items()
            if any(isinstance(d, Below) and part[d.body, False] != part[d.head, d.turned] for d in asked)
        ]
        if not wrong:
            return refused
        for key in wrong:
            del found[key]
            refused[key] = reason
