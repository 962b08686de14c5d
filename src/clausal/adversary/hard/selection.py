"""Which clauses can be hard for a model, and why others cannot."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from clausal.adversary.clauses import ClauseGroup, group_clauses
from clausal.adversary.hard.conditions import conditions_of
from clausal.adversary.hard.demands import Below, Demand, Matrix, Way, demands_of
from clausal.adversary.hard.feasible import FeasibleSet
from clausal.adversary.reciprocal import readings_of
from clausal.graph.vocabulary import Names
from clausal.logic.review.cycles import strongly_connected
from clausal.logic.syntax import Clause
from clausal.model.encoders import FrozenTable, Table
from clausal.model.orders import ParameterOrder, parameter_order
from clausal.model.predictor import LinkPredictor
from clausal.model.row_table import RowTable

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
    order = parameter_order(predictor.scorer, predictor.domain.never_negative(predictor.scorer.dim))
    for clause, asked in asked_of(group_clauses(chosen, entities, relations), predictor):
        reason = asked if isinstance(asked, str) else _why_not(predictor, order, asked)
        if isinstance(reason, str):
            reasons[id(clause)] = reason
        else:
            assert not isinstance(asked, str)
            found[id(clause)] = asked
    reasons |= _made_equal(found, predictor, order is None or order.only_equal)
    hard = [clause for clause in chosen if id(clause) in found]
    demands = [demand for clause in hard for demand in found[id(clause)]]
    feasible = FeasibleSet(predictor, order, demands) if hard and order is not None else None
    return HardClauses(hard, [(one, reasons[id(one)]) for one in chosen if id(one) in reasons], feasible)


def asked_of(groups: Sequence[ClauseGroup], predictor: LinkPredictor) -> Iterator[tuple[Clause, list[Demand] | str]]:
    """Yield each clause of groups with what it asks for, in all its readings, or why it cannot be hard."""
    for group in groups:
        readings = readings_of([group], predictor)
        for place, clause in enumerate(group.clauses):
            yield clause, demands_of(readings, place)


def _why_not(predictor: LinkPredictor, order: ParameterOrder | None, asked: Sequence[Demand]) -> str | None:
    scorer, domain = type(predictor.scorer).__name__, predictor.domain
    if order is None:
        return f"{scorer} has no order of its relation parameters that decides scores"
    orders = [one for one in asked if isinstance(one, Below)]
    classes = len(orders) < len(asked)
    if not order.transposes and any(matrix.way == "turned" for one in orders for matrix in one.matrices):
        return f"{scorer} reads subject and object differently: only a body below 0 and a head above it obey an inverse"
    if any(_never_true(one, order) for one in orders):
        return f"with {scorer} only a relation that never scores above 0 obeys it"
    if order.only_equal and (classes or not all(one.plain for one in orders)):
        what = "classes" if classes else "several atoms, false and r(X, X)"
        return (
            f'{what} can be ordered on vectors without negative numbers alone ("cube", "cone"), not on "{domain.name}"'
        )
    own = isinstance(predictor.encoder, Table) and not isinstance(predictor.encoder, FrozenTable | RowTable)
    if classes and (predictor.of_pairs or not own):
        return "classes can be ordered where entities have vectors that are trained, of their own, in one plain table"
    return None


def _never_true(demand: Below, order: ParameterOrder) -> bool:
    """Tell whether r(X, Y), r(Y, X) => false, or r(X, X) => false, leaves no parameter of r that could be positive."""
    relations, ways = {one.relation for one in demand.bodies}, {one.way for one in demand.bodies}
    if demand.heads or len(relations) > 1 or ways == {"straight"}:
        return False
    found = {node for orbits in order.orbits for one in conditions_of(demand, orbits)
             for node, _ in one.terms if len(one.terms) == 1}  # fmt: skip
    return len(found) == sum(len(orbits.columns) for orbits in order.orbits)


def _made_equal(found: dict[int, list[Demand]], predictor: LinkPredictor, equalities: bool) -> dict[int, str]:
    """Take out, with the reason, what would make relations equal that clauses do not make equivalent.

    A relation is a node for each direction in which it is read; clauses on a cycle of these say the same. Where all
    demands are equalities, those that lie on no cycle go; elsewhere those of several atoms that lie on one: first those
    that are a cycle by themselves, and then the last one as long as there are some.
    """
    refused: dict[int, str] = {}
    reason = "together with other hard clauses it would force its relations to be equal"
    if equalities:
        reason = (
            f'on the domain "{predictor.domain.name}" it would force both relations to be equal: write <=> if they '
            'are, or use the domain "cube" or "cone"'
        )
    while True:
        part = _parts(demand for asked in found.values() for demand in asked)
        gone = [key for key, asked in found.items() if _is_wrong(asked, part, equalities)]
        if not gone:
            return refused
        if not equalities:
            gone = [key for key in gone if _is_wrong(found[key], _parts(found[key]), equalities)] or gone[-1:]
        for key in gone:
            del found[key]
            refused[key] = reason


def _is_wrong(asked: Sequence[Demand], part: dict[Matrix, int], equalities: bool) -> bool:
    """Tell whether demands, whose matrices are numbered by their cycles, would make relations equal."""
    for one in asked:
        if isinstance(one, Below) and one.plain == equalities:
            cycles = [part[body] == part[head] for body in one.bodies for head in one.heads]
            if not all(cycles) if equalities else len(cycles) > 1 and any(cycles):
                return True
    return False


def _parts(demands: Iterable[Demand]) -> dict[Matrix, int]:
    """Number the matrices so that those on a cycle of demands have one number."""
    other: dict[Way, Way] = {"straight": "turned", "turned": "straight", "both": "both"}
    edges: dict[Matrix, set[Matrix]] = defaultdict(set)
    for one in demands:
        for body, head in product(one.bodies, one.heads) if isinstance(one, Below) else ():
            edges[body].add(head)
            edges[Matrix(body.relation, other[body.way])].add(Matrix(head.relation, other[head.way]))
    return {matrix: number for number, matrices in enumerate(strongly_connected(edges)) for matrix in matrices}
