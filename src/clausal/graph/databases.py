"""Facts from a database: the rows of a query, or of the one table that holds facts. Nothing is written to it.

DuckDB's files are read by DuckDB, those of SQLite by Python's own sqlite3, and PostgreSQL by psycopg. DuckDB could read
all three, but fetches the readers of the other two from the internet when they are first used.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from clausal.errors import InputError
from clausal.files import check_regular
from clausal.graph.addresses import public
from clausal.graph.columns import FACT, Columns, field_named, listed, recognise
from clausal.graph.database_readers import Database, in_quotes, open_duckdb, open_postgresql, open_sqlite
from clausal.graph.delimited import Tell
from clausal.graph.tables import names_only

_USUAL_TABLES = ("facts", "triples")
_MOST_TABLES = 12


def read_database(address: str, query: str | None, columns: Columns, tell: Tell) -> tuple[Any, str]:
    """Return a pyarrow table of names, and a name for the graph."""
    source = public(address)
    if query is not None:
        _check_query(query)
    with _open(address, source) as database:
        if query is None:
            tables = database.tables()
            table = _table_of_facts(tables, columns, source)
            found = database.rows(f"SELECT {', '.join(map(in_quotes, tables[table]))} FROM {table}")
            tell(f"facts are the rows of the table {table}")
        else:
            found = database.rows(query)
            columns = _columns_of_query(found.column_names, columns, source, tell)
        name = database.name
    if found.num_rows == 0:
        raise InputError(f"{source}: the {'query' if query else 'table'} gives no rows")
    return names_only(found, columns, source, tell), name


@contextmanager
def _open(address: str, source: str) -> Iterator[Database]:
    scheme, _, rest = address.partition(":")
    kind = scheme.casefold().partition("+")[0]  # some write the driver too: postgresql+psycopg://
    if kind in ("duckdb", "sqlite"):
        path = Path(rest.removeprefix("///"))  # as addresses have it
        if not path.exists():
            raise InputError(f"{source}: no such file")
        check_regular(path)
        with (open_duckdb if kind == "duckdb" else open_sqlite)(path, source) as database:
            yield database
    elif kind in ("postgresql", "postgres"):
        with open_postgresql(f"postgresql:{rest}", source) as database:
            yield database
    else:
        raise InputError(
            f"{source}: databases that can be read are duckdb:FILE, sqlite:FILE and postgresql://HOST/NAME; from "
            "others write the facts to a file, or give a data frame in Python"
        )


def _table_of_facts(tables: Mapping[str, Sequence[str]], columns: Columns, source: str) -> str:
    """Return the one table with columns of facts, or the one of them that is called facts or triples."""
    found = [name for name, names in tables.items() if _has_facts(names, columns)]
    usual = [name for name in found if name.rpartition(".")[2].strip('"').casefold() in _USUAL_TABLES]
    if len(found) == 1 or len(usual) == 1:
        return found[0] if len(found) == 1 else usual[0]
    shown = "; ".join(f"{name} ({listed(names)})" for name, names in list(tables.items())[:_MOST_TABLES])
    more = f"; and {len(tables) - _MOST_TABLES} more" if len(tables) > _MOST_TABLES else ""
    why = "several tables hold facts" if found else "no table has columns called subject, relation, object or the like"
    raise InputError(
        f"{source}: {why}; say which facts you mean by --query 'select s, r, o from …'. "
        f"{f'Tables: {shown}{more}' if tables else 'There are no tables'}"
    )


def _has_facts(names: Sequence[str], columns: Columns) -> bool:
    return set(columns.chosen) <= set(names) if columns.chosen else recognise(names) is not None


def _check_query(query: str) -> None:
    """Refuse what is no question; the database is opened for reading only as well."""
    text = re.sub(r"(?s)/\*.*?\*/|--[^\n]*", " ", query).strip()
    if not re.match(r"[(\s]*(select|with|from|values|table)\b", text, re.IGNORECASE):
        raise InputError(f"query {public(query)!r}: expected one that selects facts, such as 'select s, r, o from …'")


def _columns_of_query(names: Sequence[str], columns: Columns, source: str, tell: Tell) -> Columns:
    """Take the three columns of a query by their names, or else in the order in which the user selects them."""
    if columns.chosen or len(names) != len(FACT) or recognise(names) is not None:
        return columns
    for name, field in zip(names, columns.order, strict=True):
        meant = field_named(name)
        if meant not in (None, field):
            raise InputError(
                f"{source}: the query selects {listed(names)}; '{name}' stands where the {field} is expected, but "
                f"looks like the {meant}. Name them: select a as subject, b as relation, c as object"
            )
    places = [columns.order.index(field) for field in FACT]
    tell("of the query, " + ", ".join(f"{names[at]} is the {field}" for at, field in zip(places, FACT, strict=True)))
    return Columns(chosen=tuple(str(place + 1) for place in places))
