"""The rows of the tables, the paper's and those beyond it: model, preset, clauses, and the data that each one sees."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, NamedTuple, TypeVar

import numpy as np

from clausal.errors import InputError, did_you_mean
from clausal.evaluation import Filter
from clausal.graph import Graph
from clausal.logic import Atom, Clause, horn_parts, one_atom_rule, shape_of
from clausal_paper.tables.published import SHARES, Figures, paper_figures

Uses = Literal["none", "one-atom", "all"]


@dataclass(frozen=True)
class TableRow(ABC):
    """One row of a table, or one place of a table of limited data, where ``share`` of the facts is kept."""

    titles: ClassVar[Mapping[str, str]]
    """How tables for people name each model."""
    filters: ClassVar[tuple[Filter, ...]]
    """The filters that it is measured with where test has parts."""

    table: str
    model: str
    share: float | None = None

    @property
    def name(self) -> str:
        """How results files and ``--rows`` name it."""
        return self.model if self.share is None else f"{self.model}-{100 * self.share:.0f}"

    @property
    def title(self) -> str:
        """How tables for people name it."""
        title = self.titles[self.model]
        return title if self.share is None else f"{title}, {self.share:.0%}"

    @property
    @abstractmethod
    def preset(self) -> str:
        """The preset it is trained by."""

    @property
    @abstractmethod
    def uses(self) -> Uses:
        """Which of the data set's clauses it is trained with."""

    @property
    def changes(self) -> tuple[str, ...]:
        """Its own changes of the preset, as ``section.key=value``."""
        return ()

    @property
    def is_kale(self) -> bool:
        """Whether it is KALE's, with settings of its own in place of a preset."""
        return False

    @property
    def on_closure(self) -> bool:
        """Whether the closure of train is what it is trained on."""
        return False

    @property
    def entails(self) -> bool:
        """Whether it is measured with the closure of train first, too."""
        return False

    def graph(self, graph: Graph, clauses: Sequence[Clause], seed: int) -> Graph:
        """Return the data set as this row sees it: whole, or limited to its share by this seed."""
        return graph if self.share is None else limit(graph, clauses, self.share, seed)

    def clauses(self, clauses: Sequence[Clause]) -> list[Clause]:
        """Return those of the data set's clauses that this row uses."""
        if self.uses == "none":
            return []
        return [clause for clause in clauses if self.uses == "all" or one_atom_rule(shape_of(clause)[0])]


def limit(graph: Graph, clauses: Sequence[Clause], share: float, seed: int) -> Graph:
    """Keep round(share · n) of the n train facts of each relation in the head of a clause, drawn at random.

    The facts that go are in no other split, so that no filter knows them. Named parts of test go too: what can be
    deduced from fewer facts is another set.
    """
    heads = {parts[1].relation for clause in clauses if (parts := horn_parts(clause)) and isinstance(parts[1], Atom)}
    rng = np.random.default_rng(seed)
    kept = np.ones(len(graph.train), dtype=np.bool_)
    for relation in sorted(graph.relations.id(name) for name in heads):
        places = np.flatnonzero(graph.train[:, 1] == relation)
        gone = len(places) - round(share * len(places))
        kept[rng.choice(places, gone, replace=False)] = False
    return replace(graph, train=graph.train[kept], parts={}, name=f"{graph.name} limited to {share:.0%}")


class Variant(NamedTuple):
    """What a row of our own changes in one of the paper's, and what its title says of it."""

    title: str
    changes: tuple[str, ...]


_AS_AUTHORS = ("facts.margin=1", "clauses.weight=1")
VARIANTS = {
    "plain": Variant("plain steps", ("clauses.optimizer=sgd",)),
    "alternating": Variant("alternating steps", ("clauses.optimizer=alternating",)),
    "entities": Variant("random real entities", ("clauses.adversary=entities",)),
    "entities-100": Variant("random real entities, α = 100", ("clauses.adversary=entities", "clauses.weight=100")),
    "grounded": Variant("grounded clauses", ("clauses.adversary=grounded", "clauses.semantics=product")),
    "mean": Variant("γ = 1, mean of sets", (*_AS_AUTHORS, "clauses.pooling=mean")),
    "max": Variant("γ = 1, worst of sets", (*_AS_AUTHORS, "clauses.pooling=max")),
    "max-plain": Variant(
        "γ = 1, worst of sets, plain steps", (*_AS_AUTHORS, "clauses.pooling=max", "clauses.optimizer=sgd")
    ),
}
"""Rows of our own: other ways to climb, none at all, and the settings of the authors' scripts for limited data."""


@dataclass(frozen=True)
class PaperRow(TableRow):
    """One row of the paper's tables, or a variant of one."""

    variant: str = ""

    titles: ClassVar[Mapping[str, str]] = {
        "transe": "TransE",
        "kale-pre": "KALE-Pre",
        "kale-joint": "KALE-Joint",
        "distmult": "DistMult",
        "asr-distmult": "ASR-DistMult",
        "casr-distmult": "cASR-DistMult",
        "complex": "ComplEx",
        "asr-complex": "ASR-ComplEx",
        "casr-complex": "cASR-ComplEx",
    }
    filters: ClassVar[tuple[Filter, ...]] = ("full", "partial")  # the latter is what the paper probably used

    @property
    def preset(self) -> str:
        """The preset it is trained by; KALE's rows have their settings elsewhere."""
        return f"{self.table}-{self.model}"

    @property
    def is_kale(self) -> bool:
        """Whether it is one of the rows that the paper copied from Guo et al."""
        return self.model in ("transe", "kale-pre", "kale-joint")

    @property
    def on_closure(self) -> bool:
        """Whether the closure of train is what it is trained on: KALE-Pre is."""
        return self.model == "kale-pre"

    @property
    def uses(self) -> Uses:
        """Which clauses: the paper's closed forms are for one-atom bodies, and its cASR rows use only those."""
        if self.model.startswith("casr-"):
            return "one-atom"
        return "all" if self.model.startswith(("asr-", "kale-")) else "none"

    @property
    def name(self) -> str:
        return f"{super().name}-{self.variant}" if self.variant else super().name

    @property
    def title(self) -> str:
        return f"{super().title}, {VARIANTS[self.variant].title}" if self.variant else super().title

    @property
    def changes(self) -> tuple[str, ...]:
        """What its variant changes; the last epoch is kept, so that one training shows it beside the best."""
        return ("evaluate.keep=last", *(VARIANTS[self.variant].changes if self.variant else ()))

    @property
    def paper(self) -> Figures:
        """The paper's numbers; nothing where the paper has no such row."""
        return {} if self.variant else paper_figures(self.table, self.model, self.share)


@dataclass(frozen=True)
class BeyondRow(TableRow):
    """One row of a table beyond the paper: one preset for each benchmark, and the few changes that tell rows apart."""

    titles: ClassVar[Mapping[str, str]] = {
        "base": "no clauses",
        "closure": "no clauses, trained on the closure",
        "gradient": "all clauses, gradient ascent",
        "one-atom": "one-atom clauses, closed form",
        "all": "all clauses, closed form",
        "mined": "mined clauses, closed form",
    }
    filters: ClassVar[tuple[Filter, ...]] = ("full",)

    @property
    def preset(self) -> str:
        """The preset of the benchmark, which is one with clauses."""
        return f"{self.table}-best"

    @property
    def uses(self) -> Uses:
        """Which clauses: those of the data set, or those that were mined for it."""
        if self.model in ("base", "closure"):
            return "none"
        return "one-atom" if self.model == "one-atom" else "all"

    @property
    def changes(self) -> tuple[str, ...]:
        """What makes it differ from the preset."""
        if self.uses == "none":
            return ("clauses.adversary=none",)
        # A clause's violations on ten sets add up, where a closed form has one.
        return ("clauses.adversary=gradient", "clauses.weight=0.001") if self.model == "gradient" else ()

    @property
    def on_closure(self) -> bool:
        """Whether the closure of train is what it is trained on."""
        return self.model == "closure"

    @property
    def entails(self) -> bool:
        """Whether the benchmark has clauses that hold; what mined ones conclude is not certain."""
        return self.table in ("fb122", "wn18", "wn18-limited")


_VARIANTS_OF = {
    "fb122": ("plain", "alternating", "entities", "entities-100", "grounded"),
    "wn18": ("plain", "alternating"),
    "wn18-limited": ("mean", "max", "max-plain"),
}


def _with_variants(table: str, models: Iterable[str], share: float | None = None) -> Iterator[PaperRow]:
    """Yield the rows of some models, those that climb with their variants after them."""
    for model in models:
        yield PaperRow(table, model, share)
        if model.startswith("asr-"):
            yield from (PaperRow(table, model, share, variant) for variant in _VARIANTS_OF[table])


PAPER_TABLES: dict[str, tuple[PaperRow, ...]] = {
    "fb122": tuple(_with_variants("fb122", PaperRow.titles)),
    "wn18": tuple(_with_variants("wn18", PaperRow.titles)),
    "wn18-limited": tuple(
        row
        for share in SHARES
        for row in _with_variants("wn18-limited", ("complex", "asr-complex", "casr-complex"), share)
    ),
}
_BEYOND_MODELS = {
    "fb122": ("base", "closure", "gradient", "one-atom", "all"),
    "wn18": ("base", "all"),
    "wn18rr": ("base",),
    "fb15k-237": ("base", "mined"),
}
BEYOND_TABLES: dict[str, tuple[BeyondRow, ...]] = {
    **{table: tuple(BeyondRow(table, model) for model in models) for table, models in _BEYOND_MODELS.items()},
    "wn18-limited": tuple(BeyondRow("wn18-limited", model, share) for share in SHARES for model in ("base", "all")),
}

R = TypeVar("R", bound=TableRow)


def data_set(table: str) -> str:
    """Return the name of a table's data set, whose clauses it uses too."""
    return table.removesuffix("-limited")


def paper_rows(table: str, names: Sequence[str] = ()) -> list[PaperRow]:
    """Return the rows of one of the paper's tables, or those of the given names, in the order of the table."""
    return choose_rows(PAPER_TABLES[table], names, table)


def beyond_rows(table: str, names: Sequence[str] = ()) -> list[BeyondRow]:
    """Return the rows of a table beyond the paper, or those of the given names, in the order of the table."""
    return choose_rows(BEYOND_TABLES[table], names, table)


def choose_rows(rows: Iterable[R], names: Sequence[str], table: str) -> list[R]:
    """Return all rows of a table, or those of the given names, in the order of the table."""
    known = {row.name: row for row in rows}
    for name in names:
        if name not in known:
            raise InputError(
                f"unknown row '{name}' of {table}{did_you_mean(name, known)}; the rows are {', '.join(known)}"
            )
    return [row for name, row in known.items() if not names or name in names]
