"""How often clauses hold in a graph: support, standard confidence and PCA confidence as AMIE defines them.

They are counted in SQL on DuckDB or Spark: the bodies of one shape in batches, each followed by the heads that share
them. On this machine chains from one end of the head to the other are walked instead. A clause can take its confidence
as its weight, so that one with exceptions asks for less.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from clausal.graph import Facts, Graph, Names
from clausal.logic.chain_counts import Step, Walks, can_walk
from clausal.logic.engines import Engine, EngineName, open_engine
from clausal.logic.mining.compiling import in_threads
from clausal.logic.rules import Rule, encode_rule
from clausal.logic.shape import AtomShape, Slot, chain_of
from clausal.logic.sql import body_query, head_query, id_columns
from clausal.logic.store import FACT_COLUMNS
from clausal.logic.syntax import Clause, Falsum, Variable
from clausal.observer import Observer, replaces

_FIRST_BATCH = 8  # bodies
_LARGEST_BATCH = 50_000
_BATCH_INSTANCES = 3_000_000  # few enough for little memory


@dataclass(frozen=True, slots=True)
class Measures:
    """What a Horn clause predicts in a graph, and how much of it is there.

    ``body`` counts the instances of the head that the body predicts, and ``support`` those that are facts.
    ``pca_body`` counts those for which some fact of the head's relation with the same subject is known, or with the
    same object where the relation has more objects than subjects. A head ``false`` has no instances: ``body`` then
    counts the ways in which the constraint is broken.
    """

    support: int
    body: int
    pca_body: int

    @property
    def confidence(self) -> float | None:
        """Standard confidence; None where the body has no instances."""
        return self.support / self.body if self.body else None

    @property
    def pca_confidence(self) -> float | None:
        """PCA confidence; None where no instance counts."""
        return self.support / self.pca_body if self.pca_body else None

    @property
    def holds(self) -> bool:
        """Whether nothing in the graph breaks the clause."""
        return self.support == self.body


@replaces(progress=("advanced", lambda what, done, total, unit: (done, total)))
def measure_clauses(
    clauses: Sequence[Clause],
    graph: Graph,
    facts: Facts | None = None,
    *,
    engine: EngineName = "duckdb",
    memory: str | None = None,
    master: str | None = None,
    shared: str | None = None,
    observer: Observer | None = None,
) -> list[Measures | None]:
    """Measure each clause on ``facts``, by default the train facts.

    ``engine``, ``memory``, ``master`` and ``shared`` say what counts, as for a closure.

    None stands for a clause that is not Horn, that names what the graph does not have, whose head has a variable
    that its body lacks, or that is no more than ``p(X, Y)``.
    """
    rules: dict[_Body, list[tuple[int, Rule]]] = defaultdict(list)
    for index, clause in enumerate(clauses):
        if _names_are_known(clause, graph.entities, graph.relations):
            rule = encode_rule(clause, graph.entities, graph.relations)
            body = None if rule is None else _countable_body(rule)
            if rule is not None and body is not None:
                rules[body].append((index, rule))
    measured: list[Measures | None] = [None] * len(clauses)
    total, done = sum(map(len, rules.values())), 0
    sizes = len(graph.entities), len(graph.relations)
    with closing(open_engine(engine, "the counting", memory=memory, master=master, shared=shared)) as running:
        counter = _Counter(running, graph.train if facts is None else facts, *sizes, walking=engine == "duckdb")
        for batch in counter.count(rules):
            for index, measures in batch.items():
                measured[index] = measures
            done += len(batch)
            if observer is not None:
                observer.advanced("counting", done, total, "clauses")
    return measured


def weigh_clauses(clauses: Sequence[Clause], measured: Sequence[Measures | None]) -> list[Clause]:
    """Set each weight to the clause's standard confidence, to four digits; clauses without one keep theirs."""
    return [
        clause if confidence is None else replace(clause, weight=round(confidence, 4))
        for clause, confidence in zip(clauses, _confidences(measured), strict=True)
    ]


def confident_clauses(
    clauses: Sequence[Clause], measured: Sequence[Measures | None], least: float
) -> tuple[list[Clause], list[Measures | None]]:
    """Return the clauses, with their measures, whose confidence is at least this, and those that have none."""
    kept = [
        (clause, measures)
        for clause, measures, confidence in zip(clauses, measured, _confidences(measured), strict=True)
        if confidence is None or confidence >= least
    ]
    return [clause for clause, _ in kept], [measures for _, measures in kept]


def _confidences(measured: Sequence[Measures | None]) -> list[float | None]:
    return [None if measures is None else measures.confidence for measures in measured]


class _Body(NamedTuple):
    """What rules with the same body and the same variables in the head share; the values of these are counted."""

    atoms: tuple[AtomShape, ...]
    counted: tuple[Slot, ...]
    relations: tuple[int, ...]
    constants: tuple[int, ...]


def _names_are_known(clause: Clause, entities: Names, relations: Names) -> bool:
    return all(
        atom.relation in relations
        and all(isinstance(term, Variable) or term.name in entities for term in (atom.subject, atom.object))
        for atom in clause.atoms
    )


def _countable_body(rule: Rule) -> _Body | None:
    """Return the body of a rule, or None where its instances cannot be counted."""
    shape = rule.shape
    counted = shape.body_variables if isinstance(shape.head, Falsum) else shape.head_variables
    # Without a body a clause speaks of all entities; of all pairs of them would be too many to list.
    if not shape.is_safe if shape.body else len(counted) == 2:
        return None
    return _Body(shape.body, counted, rule.relations[: len(shape.body)], rule.constants[: shape.body_constants])


class _Counter:
    """Facts in an engine, ready to count rules on; with ``walking`` chains are walked in this process's memory."""

    def __init__(self, engine: Engine, facts: Facts, entities: int, relations: int, *, walking: bool) -> None:
        self._engine, self._facts, self._entities, self._relations = engine, facts, entities, relations
        self._walking = walking and can_walk(entities, relations)
        engine.load("fact", facts, FACT_COLUMNS)
        for side in ("subject", "object"):
            engine.create(f"known_{side}", f"SELECT DISTINCT relation, {side} AS entity FROM fact")
        subjects, objects = (
            dict(engine.rows(f"SELECT relation, count(*) FROM known_{side} GROUP BY relation"))
            for side in ("subject", "object")
        )
        # AMIE keeps the argument that determines the other one better.
        self._functional_at_object = {relation for relation, count in objects.items() if count > subjects[relation]}

    def count(self, rules: Mapping[_Body, Sequence[tuple[int, Rule]]]) -> Iterator[dict[int, Measures]]:
        """Yield the measures of all rules by their numbers, some at a time."""
        shapes: dict[tuple[tuple[AtomShape, ...], tuple[Slot, ...]], list[_Body]] = defaultdict(list)
        chains: dict[_Body, list[Step]] = {}
        for body in rules:
            way = chain_of(body.atoms, body.counted) if self._walking else None
            if way is None:
                shapes[body.atoms, body.counted].append(body)
            else:
                chains[body] = [Step(body.relations[index], backwards) for index, backwards in way]
        yield from self._count_chains(chains, rules)
        for (atoms, counted), bodies in shapes.items():
            query = body_query(atoms, counted) if atoms else self._all_entities_query(counted)
            start, size = 0, _FIRST_BATCH
            while start < len(bodies):
                batch = bodies[start : start + size]
                instances = self._count_bodies(batch, query)
                yield self._count_heads([rules[body] for body in batch], instances)
                start += len(batch)
                each = max(1, sum(instances.values())) / len(batch)
                size = min(4 * len(batch), _LARGEST_BATCH, max(1, int(_BATCH_INSTANCES / each)))

    def _count_chains(
        self, chains: Mapping[_Body, list[Step]], rules: Mapping[_Body, Sequence[tuple[int, Rule]]]
    ) -> Iterator[dict[int, Measures]]:
        if not chains:
            return
        used = {relation for body in chains for _, rule in rules[body] for relation in rule.relations}
        walks = Walks(self._facts, used, self._entities, self._relations)

        def count(body: _Body) -> dict[int, Measures]:
            measured: dict[int, Measures] = {}
            heads = [(index, rule) for index, rule in rules[body] if isinstance(rule.shape.head, AtomShape)]
            steps = [Step(rule.relations[-1], rule.shape.atoms[-1].object == body.counted[0]) for _, rule in heads]
            sides = [self._fixed_side(rule.shape.atoms[-1], rule.relations[-1]) for _, rule in heads]
            at_start = [(side == "object") == step.backwards for side, step in zip(sides, steps, strict=True)]
            pairs, support, known = walks.count(chains[body], steps, at_start)
            for index, _ in rules[body]:
                measured[index] = Measures(0, pairs, 0)
            for (index, _), *counted in zip(heads, support, known, strict=True):
                measured[index] = Measures(counted[0], pairs, counted[1])
            return measured

        for _, measured in in_threads(count, chains):
            yield measured

    def _all_entities_query(self, counted: Sequence[Slot]) -> str:
        """Return the query for a rule without a body, which speaks of all entities."""
        names = [f"v{slot.index}" for slot in counted]
        ranges = "".join(f", range({self._entities}) all_{name}({name})" for name in names)
        columns = "".join(f", CAST(all_{name}.{name} AS INTEGER) AS {name}" for name in names)
        return f"SELECT s.id{columns} FROM body s{ranges}"

    def _count_bodies(self, bodies: Sequence[_Body], query: str) -> dict[int, int]:
        """Put the instances of the bodies into the table ``instance``, and return how many each has."""
        rows = [[number, *body.relations, *body.constants] for number, body in enumerate(bodies)]
        self._load("body", rows, ["id", *id_columns(len(bodies[0].relations), len(bodies[0].constants))])
        self._engine.create("instance", query)
        return dict(self._engine.rows("SELECT id, count(*) FROM instance GROUP BY id"))

    def _count_heads(
        self, rules_of: Sequence[Sequence[tuple[int, Rule]]], instances: Mapping[int, int]
    ) -> dict[int, Measures]:
        """Count the heads of the rules of each body."""
        measured: dict[int, Measures] = {}
        groups: dict[tuple[AtomShape, str], list[tuple[int, int, Rule]]] = defaultdict(list)
        for number, rules in enumerate(rules_of):
            for index, rule in rules:
                measured[index] = Measures(0, instances.get(number, 0), 0)
                head = rule.shape.head
                if isinstance(head, AtomShape) and number in instances:
                    groups[head, self._fixed_side(head, rule.relations[-1])].append((index, number, rule))
        for (head, side), members in groups.items():
            constants = sorted({slot.index for slot in head.slots if slot.kind == "constant"})
            rows = [
                [index, number, rule.relations[-1], *(rule.constants[constant] for constant in constants)]
                for index, number, rule in members
            ]
            self._load("head", rows, ["id", "body", "relation", *(f"c{constant}" for constant in constants)])
            for index, support, pca_body in self._engine.rows(head_query(head, side)):
                measured[index] = Measures(support, measured[index].body, pca_body)
        return measured

    def _fixed_side(self, head: AtomShape, relation: int) -> str:
        """Return the argument that stays: the variable of a head with a constant, else the more functional one."""
        variables = [slot.kind == "variable" for slot in head.slots]
        if variables[0] != variables[1]:
            return "subject" if variables[0] else "object"
        return "object" if relation in self._functional_at_object else "subject"

    def _load(self, table: str, rows: Sequence[Sequence[int]], columns: Sequence[str]) -> None:
        self._engine.load(table, np.array(rows, dtype=np.int32), columns)
