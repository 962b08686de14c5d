"""Facts given in Python made into a table of names: data frames, tuples, graphs of NetworkX, PyKEEN's factories.

What has columns comes by Arrow's protocol (``__arrow_c_stream__``), as of pandas, polars, pyarrow and DuckDB. The other
libraries are known by what their objects offer, and are not imported.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from clausal.errors import InputError
from clausal.graph.columns import FACT, Columns, find_named, recognise
from clausal.graph.delimited import Tell
from clausal.graph.tables import names_only

_BY_NAME = Columns()


def table_of_triples(triples: Any, columns: Columns, source: str, tell: Tell) -> Any:
    """Return a pyarrow table of names; ``source`` names the facts in messages, ``tell`` hears what is left out."""
    if hasattr(triples, "__arrow_c_stream__"):
        return _from_frame(triples, columns, source, tell)
    if hasattr(triples, "is_multigraph") and hasattr(triples, "edges"):
        return _from_networkx(triples, source)
    if hasattr(triples, "mapped_triples"):
        return _from_pykeen(triples, source)
    if hasattr(triples, "collect") and hasattr(triples, "lazy"):
        raise InputError(f"{source}: a lazy frame; give what its collect() returns")
    return _from_rows(triples, source, columns)


def _from_frame(frame: Any, columns: Columns, source: str, tell: Tell) -> Any:
    import pyarrow as pa

    try:
        table = pa.table(frame)
    except MemoryError:
        raise
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise InputError(f"{source}: the data frame does not hold names: {error}") from None
    if table.num_rows == 0:
        return _empty_table()
    return names_only(table, columns, source, tell)


def _from_networkx(graph: Any, source: str) -> Any:
    """Return the edges as facts: the relation is an attribute with a usual name, else the key of a multigraph."""
    if not graph.is_directed():
        raise InputError(
            f"{source}: an undirected graph, but facts have a direction; make it a directed one, such as by "
            "to_directed(), which takes each edge in both directions"
        )
    multiple = graph.is_multigraph()
    edges = list(graph.edges(keys=True, data=True) if multiple else graph.edges(data=True))
    if not edges:
        return _empty_table()
    attribute = _attribute(edges[0][-1])
    rows = []
    for edge in edges:
        relation = edge[2] if attribute is None and multiple else edge[-1].get(attribute)
        if multiple and attribute is not None and isinstance(edge[2], str) and edge[2] != relation:
            raise InputError(
                f"{source}: the edge from {edge[0]!r} to {edge[1]!r} has the key '{edge[2]}' and the {attribute} "
                f"'{relation}'; which is the relation? Leave one of them out"
            )
        if not isinstance(relation, str):
            what = f"the edge from {edge[0]!r} to {edge[1]!r}"
            missing = f"has no attribute '{attribute}'" if attribute else "does not say its relation"
            keys = " or as the key of a multigraph," if multiple else ","
            raise InputError(
                f"{source}: {what} {missing}; give each edge one as text, in an attribute such as 'relation'{keys} or "
                "make a data frame of the edges (networkx.to_pandas_edgelist) and name its columns"
            )
        rows.append([name if isinstance(name, str) else _number(name) for name in (edge[0], relation, edge[1])])
    return _from_rows(rows, source)


def _attribute(attributes: dict[str, Any]) -> str | None:
    names = [str(name) for name in attributes]
    found = recognise(["subject", "object", *names])
    return None if found is None else names[found[1] - 2]


def _number(name: Any) -> Any:
    return str(name) if isinstance(name, int) and not isinstance(name, bool) else name


def _from_pykeen(factory: Any, source: str) -> Any:
    """Return the facts of a triples factory under their labels."""
    import pyarrow as pa

    if not hasattr(factory, "entity_id_to_label"):
        raise InputError(
            f"{source}: a triples factory without labels; expected one with names, pykeen's TriplesFactory"
        )
    ids = np.asarray(factory.mapped_triples)
    labels = (factory.entity_id_to_label, factory.relation_id_to_label, factory.entity_id_to_label)
    columns = {}
    for field, column, names in zip(FACT, ids.T, labels, strict=True):
        known = pa.array([str(names[number]) for number in range(len(names))], pa.string())
        columns[field] = pa.chunked_array([known.take(pa.array(column))])
    return names_only(pa.table(columns), _BY_NAME, source, lambda _: None)


def _from_rows(rows: Any, source: str, named: Columns = _BY_NAME) -> Any:
    import pyarrow as pa

    columns: tuple[list[str], list[str], list[str]] = ([], [], [])
    if not isinstance(rows, Iterable) or isinstance(rows, (str, bytes)):
        raise InputError(f"{source}: {type(rows).__name__}; expected a data frame, or tuples of three names")
    for number, row in enumerate(rows, start=1):
        cells = list(row) if isinstance(row, Iterable) and not isinstance(row, (str, set, frozenset)) else [row]
        if isinstance(row, Mapping):
            cells = _cells_by_name(row, named, source)
        if len(cells) != 3 or not all(isinstance(cell, str) and cell for cell in cells):
            raise InputError(f"{source}: fact {number} is {row!r}; expected three names: subject, relation, object")
        for column, cell in zip(columns, cells, strict=True):
            column.append(str(cell))
    try:
        return pa.table({field: pa.array(column, pa.string()) for field, column in zip(FACT, columns, strict=True)})
    except UnicodeEncodeError as error:
        raise InputError(f"{source}: the name {error.object!r} is not valid Unicode") from None


def _cells_by_name(row: Mapping[Any, Any], columns: Columns, source: str) -> list[Any]:
    names = [str(name) for name in row]
    values = list(row.values())
    return [values[position] for position in find_named(names, columns, source)]


def _empty_table() -> Any:
    import pyarrow as pa

    return pa.table({field: pa.array([], pa.string()) for field in FACT})
