"""What an RDF file says: facts, literals beside them, prefixes, and counts of what is left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from clausal.errors import InputError

Literals = Literal["skip", "keep"]
BlankNodes = Literal["skip", "keep", "skolemise"]

FACT_COLUMNS = ("subject", "relation", "object")
LITERAL_COLUMNS = ("subject", "property", "value", "language", "datatype")
_MOST_GRAPHS = 1_000_000  # named graphs that are counted


@dataclass(frozen=True)
class RdfOptions:
    """How RDF becomes facts: whether literals and blank nodes are entities, and what relative IRIs are relative to.

    ``literals``: ``skip`` keeps them aside in ``Graph.literals``, ``keep`` makes them entities.
    ``blank_nodes``: ``skip`` leaves out the statements about them, ``keep`` names them ``_:label``, ``skolemise``
    gives each an IRI, made of the file's name and the label.
    ``base``: IRI that relative IRIs are relative to, in files that do not say it themselves.
    """

    literals: Literals = "skip"
    blank_nodes: BlankNodes = "skip"
    base: str | None = None

    def __post_init__(self) -> None:
        for name, choices in (("literals", Literals), ("blank_nodes", BlankNodes)):
            value = getattr(self, name)
            if value not in get_args(choices):
                raise InputError(f"{name} '{value}' is not one of {', '.join(get_args(choices))}")
        if self.base is not None:
            from pyoxigraph import RdfFormat, parse

            try:
                list(parse(b"<> <> <> .", format=RdfFormat.TURTLE, base_iri=self.base))
            except (ValueError, SyntaxError):
                raise InputError(
                    f"base '{self.base}' is not an IRI; expected one such as http://example.org/"
                ) from None


@dataclass
class Statements:
    """The facts of a file as a table of names, what else it says, and how many statements are left out, by reason.

    ``literals`` is a table as in ``Graph.literals``, or None. ``relative`` is an IRI without a base, if there is one.
    """

    facts: Any
    literals: Any = None
    prefixes: Mapping[str, str] = field(default_factory=dict)
    left_out: Counter[str] = field(default_factory=Counter)
    graphs: set[int] = field(default_factory=set)
    relative: str | None = None

    def notes(self) -> Iterator[str]:
        """Yield sentences that a user should read about what is no fact of the graph."""
        literal, blank, triple, relative = (self.left_out[kind] for kind in ("literal", "blank", "triple", "relative"))
        if literal:
            yield f"{_statements(literal)} with a literal kept aside; --literals keep makes facts of them"
        if blank:
            yield f"{_statements(blank)} with a blank node left out; --blank-nodes keep makes facts of them"
        if triple:
            yield f"{_statements(triple)} about other statements (RDF-star, RDF 1.2) left out"
        if self.graphs:
            more = "more than " if len(self.graphs) >= _MOST_GRAPHS else ""
            graphs = "1 named graph" if len(self.graphs) == 1 else f"{more}{len(self.graphs):,} named graphs"
            yield f"the facts of {graphs} are taken together, without the graphs' names"
        if relative:
            yield (
                f"{relative:,} relative IRI{'' if relative == 1 else 's'}, such as {self.relative}, "
                f"{'is a name as it stands' if relative == 1 else 'are names as they stand'}; "
                "--base IRI makes whole IRIs of them"
            )

    def add_graphs(self, graphs: Iterable[int]) -> None:
        """Count named graphs, given by hashes of their names, up to a limit."""
        if len(self.graphs) < _MOST_GRAPHS:
            self.graphs.update(graphs)


def join_statements(some: Sequence[Statements]) -> Statements:
    """Return what several files, or pieces of a file, say together; of a prefix with two IRIs the first one stays."""
    if len(some) == 1:
        return some[0]
    joined = Statements(_concatenated([one.facts for one in some]))
    joined.literals = _concatenated([one.literals for one in some if one.literals is not None])
    prefixes: dict[str, str] = {}
    for one in some:
        prefixes |= {prefix: iri for prefix, iri in one.prefixes.items() if prefix not in prefixes}
        joined.left_out += one.left_out
        joined.add_graphs(one.graphs)
        joined.relative = joined.relative or one.relative
    joined.prefixes = prefixes
    return joined


def _concatenated(tables: Sequence[Any]) -> Any:
    import pyarrow as pa

    return pa.concat_tables(tables) if tables else None


def text_table(columns: Sequence[str], lists: Sequence[Any]) -> Any:
    """Return a pyarrow table of text, from lists or arrays."""
    import pyarrow as pa

    return pa.table({name: pa.array(values, pa.string()) for name, values in zip(columns, lists, strict=True)})


def _statements(count: int) -> str:
    return "1 statement" if count == 1 else f"{count:,} statements"
