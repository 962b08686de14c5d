"""Scores of facts that are given: by name or by id, as rows, a data frame or a table, each with what is known of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from clausal.choices import UnknownNames
from clausal.errors import InputError
from clausal.evaluation import Calibration
from clausal.evaluation.protocol import check_facts, score_facts
from clausal.graph.graph import Facts, Graph
from clausal.graph.lookup import unknown_name
from clausal.graph.vocabulary import Names
from clausal.run.best_answers import Asking
from clausal.run.known_facts import SortedFacts
from clausal.run.prediction import Entailment, entailments

if TYPE_CHECKING:
    from clausal.evaluation.consistency import Consistent

Kept = NDArray[np.bool_]


class ScoredFact(NamedTuple):
    """A fact with its score; the fields are those of an ``Answer``."""

    subject: str
    relation: str
    object: str
    score: float
    known: bool
    split: str | None
    probability: float | None = None
    verdict: Entailment | None = None


@dataclass(frozen=True, eq=False)
class Scores:
    """Facts with their scores, in the order in which they were given; arrays have an entry for each fact.

    ``probabilities`` are None where the ranking has no calibration, and ``verdicts`` unless it is ``"entailed"``
    or scores are consistent.
    ``split_numbers`` count train, valid and test from 0; −1 where the graph does not have the fact. ``rows`` are the
    places of the facts among those given, of which some can be left out.
    """

    graph: Graph
    facts: Facts
    scores: NDArray[np.float64]
    probabilities: NDArray[np.float64] | None
    split_numbers: NDArray[np.int8]
    verdicts: list[Entailment] | None
    rows: NDArray[np.int64]
    skipped: int = 0
    """How many of those given were left out."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The fields of ``ScoredFact`` that these facts have."""
        missing = {"probability": self.probabilities is None, "verdict": self.verdicts is None}
        return tuple(name for name in ScoredFact._fields if not missing.get(name, False))

    @property
    def known(self) -> NDArray[np.bool_]:
        """Whether the graph has the fact, in any split."""
        return self.split_numbers >= 0

    def __len__(self) -> int:
        return len(self.facts)

    def __repr__(self) -> str:
        return f"Scores({len(self):,} facts, {int(self.known.sum()):,} of them known)"

    def __iter__(self) -> Iterator[ScoredFact]:
        names, entities, relations = list(self.graph.splits), self.graph.entities, self.graph.relations
        splits, scores = self.split_numbers.tolist(), self.scores.tolist()
        chances = None if self.probabilities is None else self.probabilities.tolist()
        for place, (subject, relation, object) in enumerate(self.facts.tolist()):
            yield ScoredFact(
                entities[subject],
                relations[relation],
                entities[object],
                scores[place],
                splits[place] >= 0,
                names[splits[place]] if splits[place] >= 0 else None,
                None if chances is None else chances[place],
                None if self.verdicts is None else self.verdicts[place],
            )

    def to_table(self) -> Any:
        """Return a pyarrow table, the fields of ``ScoredFact`` its columns; ``.to_pandas()`` makes a data frame."""
        import pyarrow as pa

        subjects, relations, objects = self.facts.T
        split_names = pa.array(list(self.graph.splits), pa.string())
        columns = {
            "subject": _named(self.graph.entities, subjects),
            "relation": _named(self.graph.relations, relations),
            "object": _named(self.graph.entities, objects),
            "score": pa.array(self.scores),
            "known": pa.array(self.known),
            "split": split_names.take(pa.array(self.split_numbers, mask=self.split_numbers < 0)),
        }
        if self.probabilities is not None:
            columns["probability"] = pa.array(self.probabilities)
        if self.verdicts is not None:
            columns["verdict"] = pa.array(self.verdicts, pa.string())
        return pa.table(columns)


def read_ids(facts: Any, graph: Graph, unknown: str = "refuse") -> tuple[Facts, Kept]:
    """Return ids [facts, 3] of facts that are given by ids, or by names in any form that a graph can be made of.

    Beside them is said which of those given they are: a fact with an unknown name is refused, or skipped.
    """
    if isinstance(facts, np.ndarray) and np.issubdtype(facts.dtype, np.integer):
        return facts, np.ones(len(facts), np.bool_)
    from clausal.graph.assembly import look_up
    from clausal.graph.columns import Columns
    from clausal.graph.python_triples import table_of_triples

    check_unknown(unknown)
    table = table_of_triples(facts, Columns(), "facts", lambda _: None)
    ids = look_up(table, graph.entities, graph.relations)
    outside: Kept = np.any(ids < 0, axis=1)
    if unknown == "refuse" and outside.any():
        row = int(outside.argmax())
        names = {field: table.column(field)[row].as_py() for field in ("subject", "relation", "object")}
        raise InputError(f"facts: row {row + 1}: {unknown_name(graph.entities, graph.relations)(names)}")
    return ids[~outside], ~outside


def check_unknown(unknown: str) -> None:
    """Refuse what is no way to treat facts with unknown names."""
    if unknown not in get_args(UnknownNames):
        raise InputError(
            f"unknown={unknown!r}: facts with unknown names can be treated so: {', '.join(get_args(UnknownNames))}"
        )


def score_ids(
    asking: Asking,
    graph: Graph,
    ids: Facts,
    kept: Kept,
    *,
    before: int = 0,
    closure: SortedFacts | None = None,
    certain: SortedFacts | None = None,
    calibration: Calibration | None = None,
    consistent: Consistent | None = None,
) -> Scores:
    """Score facts given by ids [facts, 3]; ``kept`` says which of those given they are, after ``before``.

    ``consistent`` is the ranker, where scores are to obey clauses.
    """
    check_facts(ids, asking.ranker)
    scores = score_facts(asking.ranker, ids) if len(ids) else np.empty(0)
    chances = None if calibration is None else calibration.probabilities(scores, ids[:, 1])
    verdicts = None if closure is None else entailments(ids, asking.known, closure, certain)
    if consistent is not None:
        from clausal.run.consistency import standings

        verdicts = standings(consistent, ids, scores, asking.known)
    return Scores(
        graph,
        ids.astype(np.int32),
        scores,
        chances,
        asking.known.split_numbers(ids),
        verdicts,
        before + np.flatnonzero(kept),
        int((~kept).sum()),
    )


def _named(names: Names, ids: NDArray[np.integer]) -> Any:
    """Return the names of ids as a pyarrow array; each name is looked at once."""
    import pyarrow as pa

    distinct, places = np.unique(ids, return_inverse=True)
    return pa.array([names[one] for one in distinct.tolist()], pa.string()).take(pa.array(places.reshape(-1)))
