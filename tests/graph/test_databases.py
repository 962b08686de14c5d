"""Facts from databases, which are only read; nothing that is secret is ever said."""

import sqlite3

import duckdb
import pytest
from graph_files import FACTS, named

import clausal
from clausal.errors import InputError
from clausal.graph import database_readers, load_graph
from clausal.graph.addresses import public, waiting_options, without_secrets
from postgres_server import PostgresServer

SECRET = "hunter2-Secret"


def load_all(source, **options):
    graph = load_graph(source, valid=0, test=0, **options)
    return named(graph, graph.train)


def fill(connection):
    for table, columns in (("facts", "o, s, r"), ("people", "id, name")):
        connection.execute(f"CREATE TABLE {table} ({', '.join(f'{column} TEXT' for column in columns.split(', '))})")
    for subject, relation, object in FACTS:
        connection.execute(f"INSERT INTO facts VALUES ('{object}', '{subject}', '{relation}')")
    connection.commit()


@pytest.fixture(params=["duckdb", "sqlite"])
def address(request, tmp_path):
    path = tmp_path / "some.db"
    connection = duckdb.connect(str(path)) if request.param == "duckdb" else sqlite3.connect(path)
    if request.param == "duckdb":
        connection.begin()
    fill(connection)
    connection.close()
    return f"{request.param}:{path}"


def test_a_query_selects_the_facts(address):
    assert load_all(address, query="select s, r, o from facts order by rowid") == FACTS
    graph = load_graph(address, query="SELECT s as a, r as b, o as c FROM facts", valid=0, test=0)
    assert set(named(graph, graph.train)) == set(FACTS)
    assert graph.name == "some"
    assert graph.source == {"address": address, "query": "SELECT s as a, r as b, o as c FROM facts"}
    assert "of the query, a is the subject" in graph.notes[0]


def test_without_a_query_the_table_of_facts_is_found(address):
    assert set(load_all(address)) == set(FACTS)
    assert set(load_all(address.replace(":", ":///", 1))) == set(FACTS)  # as other tools write it


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("select s, o, r as x from facts", "'o' stands where the relation is expected, but looks like the object"),
        ("select s, r from facts", "columns s, r; which are subject, relation, object"),
        ("select s, r, o from facts where s = 'nobody'", "the query gives no rows"),
        ("select s, r, x from facts", "x"),
        ("delete from facts", "expected one that selects facts"),
        ("drop table facts; select 1", "expected one that selects facts"),
        ("select s, r, o from facts; drop table facts", "several|one statement"),
    ],
)
def test_bad_queries_are_explained(address, query, message):
    with pytest.raises(InputError, match=message):
        load_graph(address, query=query)
    assert set(load_all(address)) == set(FACTS)


def test_tables_are_listed_where_none_is_clear(tmp_path):
    connection = sqlite3.connect(tmp_path / "x.db")
    connection.execute("CREATE TABLE people (id, name)")
    connection.commit()
    connection.close()
    with pytest.raises(InputError, match=r"say which facts you mean by --query .* Tables: people \(id, name\)"):
        load_graph(f"sqlite:{tmp_path / 'x.db'}")


def test_what_is_no_database_is_refused(tmp_path):
    (tmp_path / "x.db").write_text("hello")
    for kind in ("duckdb", "sqlite"):
        with pytest.raises(InputError, match=f"{kind}:"):
            load_graph(f"{kind}:{tmp_path / 'x.db'}")
        with pytest.raises(InputError, match="no such file"):
            load_graph(f"{kind}:{tmp_path / 'none.db'}")
    with pytest.raises(InputError, match="a query needs a database"):
        load_graph(tmp_path / "x.db", query="select 1")


@pytest.mark.parametrize(
    "address",
    [
        f"mysql://me:{SECRET}@localhost/db",
        f"postgressql://me:{SECRET}@localhost/db",
        f"postgresql://me:{SECRET}@localhost:1/db?connect_timeout=1",
        f"postgresql://localhost:1/db?password={SECRET}&connect_timeout=1",
        f"postgresql://me:{SECRET}@localhost:notaport/db",
        f"postgresql://me:a@b/{SECRET}@localhost:1/db?connect_timeout=1",
        f"host=localhost password={SECRET} dbname=db",
        f"postgresql://me:{SECRET}@localhost:1/db?no_such_option=1",
    ],
)
def test_a_password_is_never_said(address):
    with pytest.raises(InputError) as caught:
        load_graph(address, query="select 1, 2, 3" if "://" in address else None)
    assert SECRET not in str(caught.value)
    assert SECRET not in public(address)
    assert SECRET not in without_secrets(f"cannot connect to {address} with {SECRET}", address)


@pytest.fixture(scope="module")
def postgres():
    with PostgresServer.started(SECRET) as server:
        yield server.address


def test_postgresql(postgres, tmp_path):
    import psycopg

    with psycopg.connect(postgres) as connection:
        fill(connection)
    query = "select s, r, o from facts where o like '%' order by s, r"
    assert load_all(postgres, query=query) == sorted(FACTS)
    graph = load_graph(postgres.replace("postgresql:", "postgresql+psycopg:"), valid=0, test=0)
    assert set(named(graph, graph.train)) == set(FACTS)
    with pytest.raises(InputError, match=r"data-modifying|read-only"):
        load_graph(postgres, query="with x as (delete from facts returning s, r, o) select s, r, o from x")
    with pytest.raises(InputError, match="password authentication failed") as caught:
        load_graph(postgres.replace(SECRET, "wrong-" + SECRET))
    assert SECRET not in str(caught.value)
    settings = clausal.Settings.load(None, ["train.epochs=1", "model.dim=4"])
    clausal.train(graph, settings=settings, out=tmp_path / "run")
    for path in (tmp_path / "run").rglob("*"):
        assert not path.is_file() or SECRET.encode() not in path.read_bytes()
    assert '"address": "postgresql+psycopg://127.0.0.1' in (tmp_path / "run" / "run.json").read_text()


def test_a_table_that_somebody_holds_is_not_waited_for_without_end(postgres, monkeypatch):
    import psycopg

    monkeypatch.setattr(database_readers, "_ANSWERS", 1)
    with psycopg.connect(postgres) as connection:
        connection.execute("CREATE TABLE held (s TEXT, r TEXT, o TEXT)")
        connection.commit()
        connection.execute("LOCK TABLE held IN ACCESS EXCLUSIVE MODE")
        with pytest.raises(InputError, match="lock timeout"):
            load_graph(postgres, query="select s, r, o from held")
        connection.rollback()
        connection.execute("DROP TABLE held")


def test_the_end_of_a_network_is_noticed_unless_the_address_says_otherwise():
    assert waiting_options("postgresql://host/db", 10)["connect_timeout"] == 10
    assert waiting_options("postgresql://host/db", 10)["tcp_user_timeout"] == 60_000
    own = waiting_options("postgresql://host/db?connect_timeout=3&keepalives_idle=900", 10)
    assert "connect_timeout" not in own
    assert "keepalives_idle" not in own
