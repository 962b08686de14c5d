"""Evaluation of a link predictor on a graph: a split, its named parts and each relation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, get_args

import numpy as np

from clausal.choices import Filter, Ties
from clausal.errors import InputError, count, did_you_mean
from clausal.evaluation.known import Ids, Known
from clausal.evaluation.protocol import Ranker, RanksInParts
from clausal.evaluation.ranking import rank
from clausal.evaluation.ranks import Metrics, Ranks, SideMetrics, joined_ranks, metrics
from clausal.graph.graph import Facts, Graph
from clausal.observer import Observer, replaces


class _Counted(Observer):
    """Counts the ranks of a part of the facts on from those before it."""

    def __init__(self, observer: Observer, before: int, total: int) -> None:
        self.observer, self.before, self.total = observer, before, total

    def advanced(self, what: str, done: int, total: int | None, unit: str) -> None:
        self.observer.advanced(what, self.before + done, self.total, unit)


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The ranks of a split, of its parts and of its relations, and the metrics they give."""

    ranks: Ranks
    part_ranks: Mapping[str, Ranks]
    relation_ranks: Mapping[str, Ranks]
    filter: Filter
    split: str
    ranking: str = "model"
    """``model``, ``entailed first``, ``rules``, ``fused`` or ``fused, signed``; ``, consistent`` may be behind it."""

    def __repr__(self) -> str:
        both = self.filtered["both"]
        figures = f"MRR {both['mrr']:.3f}, Hits@10 {both['hits@10']:.3f}, {both['count']:,} facts"
        return f"<Evaluation of {self.split} by {self.ranking}: {figures}>"

    def _repr_html_(self) -> str:
        from clausal.drawing import notebook
        from clausal.evaluation.html import evaluation_html

        return notebook(evaluation_html(self))

    @property
    def ties(self) -> Ties:
        """How ties between scores are ranked."""
        return self.ranks.ties

    @cached_property
    def filtered(self) -> SideMetrics:
        """Filtered metrics by side: both, subject, object."""
        return metrics(self.ranks)["filtered"]

    @cached_property
    def raw(self) -> SideMetrics:
        """Raw metrics by side: both, subject, object."""
        return metrics(self.ranks)["raw"]

    @cached_property
    def parts(self) -> dict[str, dict[str, SideMetrics]]:
        """Filtered and raw metrics of each named part of the split."""
        return {name: metrics(ranks) for name, ranks in self.part_ranks.items()}

    @cached_property
    def relations(self) -> dict[str, Metrics]:
        """Filtered metrics of each relation, over both sides."""
        return {name: metrics(ranks)["filtered"]["both"] for name, ranks in self.relation_ranks.items()}

    def with_ties(self, ties: Ties) -> Evaluation:
        """Return the same evaluation under another tie policy; nothing is scored again."""
        return replace(
            self,
            ranks=self.ranks.with_ties(ties),
            part_ranks={name: ranks.with_ties(ties) for name, ranks in self.part_ranks.items()},
            relation_ranks={name: ranks.with_ties(ties) for name, ranks in self.relation_ranks.items()},
        )

    def to_dict(self) -> dict[str, Any]:
        """Return what ``clausal evaluate --format json`` prints."""
        return {
            "filtered": self.filtered,
            "raw": self.raw,
            "parts": self.parts,
            "relations": self.relations,
            "ties": self.ties,
            "filter": self.filter,
            "split": self.split,
            "ranking": self.ranking,
        }


@replaces(progress=("advanced", lambda what, done, total, unit: (done, total)))
def evaluate(
    predictor: Ranker,
    graph: Graph,
    *,
    split: str | Facts = "test",
    ties: Ties = "realistic",
    filter: Filter = "full",
    also_known: Facts | None = None,
    per_relation: bool = False,
    memory: int | None = None,
    observer: Observer | None = None,
) -> Evaluation:
    """Rank a split of ``graph``, or facts given as an array of ids, and measure it.

    The filter holds train, valid, test and the facts evaluated, and ``also_known`` facts, which are true though the
    graph lacks them. With ``filter="partial"`` each part of the
    test split is ranked again with a filter of train, valid and that part only, as the paper's tables very
    likely were; the split itself is always ranked with the full filter. Parts without facts are left out.
    """
    _check(predictor, graph, filter)
    facts, name = find_facts(graph, split)

    def rank_among(facts: Facts, known: list[Facts]) -> Ranks:
        index = Known(np.concatenate(known), predictor.num_entities, predictor.num_relations, asked=facts)
        parts = predictor.parts(facts) if isinstance(predictor, RanksInParts) else [np.arange(len(facts))]
        done, ranked = 0, []
        for part in parts:
            counted = None if observer is None else _Counted(observer, 2 * done, 2 * len(facts))
            ranked.append(rank(predictor, facts[part], index, ties=ties, memory=memory, observer=counted))
            done += len(part)
        return ranked[0] if len(ranked) == 1 else joined_ranks(ranked, parts)

    further = [] if also_known is None else [also_known]
    ranks = rank_among(facts, [graph.known, facts, *further])
    parts = {part: found for part, found in graph.parts.items() if len(found)} if name == "test" else {}
    if filter == "partial":
        part_ranks = {
            part: rank_among(found, [graph.train, graph.valid, found, *further]) for part, found in parts.items()
        }
    else:
        part_ranks = {part: ranks.take(_places(found, facts, part)) for part, found in parts.items()}
    relations = np.unique(facts[:, 1]).tolist() if per_relation else []
    relation_ranks = {
        graph.relations[relation]: ranks.take(np.flatnonzero(facts[:, 1] == relation)) for relation in relations
    }
    ranking = getattr(predictor, "ranking", "model")
    return Evaluation(ranks, part_ranks, relation_ranks, filter, name, ranking)


def _check(predictor: Ranker, graph: Graph, filter: str) -> None:
    if filter not in get_args(Filter):
        raise InputError(f"unknown filter '{filter}'{did_you_mean(filter, get_args(Filter))}; choose full or partial")
    sizes = (predictor.num_entities, predictor.num_relations)
    if sizes != (len(graph.entities), len(graph.relations)):
        raise InputError(
            f"the link predictor knows {count(sizes[0], 'entity', 'entities')} and {count(sizes[1], 'relation')}, "
            f"but {graph.name} has {len(graph.entities):,} and {len(graph.relations):,}: use its own graph"
        )


def find_facts(graph: Graph, split: str | Facts) -> tuple[Facts, str]:
    """Return the facts of a split, or those given, of which there must be some, and what they are called."""
    if isinstance(split, str) and split not in graph.splits:
        raise InputError(f"unknown split '{split}'{did_you_mean(split, graph.splits)}; choose train, valid or test")
    facts, name = (graph.splits[split], split) if isinstance(split, str) else (split, "facts")
    if not len(facts):
        raise InputError(f"there are no facts to evaluate: '{name}' of {graph.name} is empty")
    return facts, name


def _places(part: Facts, facts: Facts, name: str) -> Ids:
    """Return where each fact of a part is among ``facts``."""
    _, ids = np.unique(np.concatenate([facts, part]), axis=0, return_inverse=True)
    ids = ids.reshape(-1)  # numpy 2.0 returned a column here
    places = np.full(len(ids), -1, dtype=np.int64)
    places[ids[: len(facts)]] = np.arange(len(facts))
    found = places[ids[len(facts) :]]
    missing = int((found < 0).sum())
    if missing:
        raise InputError(
            f"part '{name}' has {count(missing, 'fact')} outside of the test split; a part is a subset of test"
        )
    return found
