"""The closure holds what follows and nothing else, with the round in which it follows first."""

import random
from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import given, settings

from clausal.errors import InputError, RunError
from clausal.graph import Names
from clausal.graph.facts import fact_keys, no_facts
from clausal.logic import encode_rules, horn_parts, parse_clauses
from clausal.logic.closure import close, close_rules, layers
from clausal.logic.engines.duck import DuckEngine
from clausal.logic.store import NoRoomError, open_store
from clausal.logic.syntax import Variable
from programs import closure_by_nemo, facts, first_rounds, graph_of, horn_clauses, programs, random_rule, rounds_of
from recording import Recorder

CHAIN = graph_of({(0, 0, 1), (1, 0, 2), (2, 0, 3)})
TRANSITIVE = parse_clauses("p(X, Y), p(Y, Z) => p(X, Z)")


@settings(max_examples=80, deadline=None)
@given(facts=facts, clauses=programs)
def test_closure_is_that_of_trying_every_assignment(facts, clauses):
    graph = graph_of(facts)
    assert rounds_of(close(graph, clauses, threads=1)) == first_rounds(graph, clauses)


@settings(max_examples=20, deadline=None)
@given(facts=facts, clauses=programs)
def test_closure_of_a_closure_adds_nothing(facts, clauses):
    graph = graph_of(facts)
    closed = close(graph, clauses, threads=1).facts
    assert len(close(graph, clauses, facts=closed, threads=1).derived) == 0


@pytest.mark.parametrize("seed", range(4))
def test_closure_is_that_of_another_engine(seed):
    """Graphs too large for trying every assignment, against nemo, an engine that shares no code with this one."""
    pytest.importorskip("nmo_python", reason="nemo-python is not installed")
    draw = random.Random(seed)
    entities, relations = [f"entity{n}" for n in range(60)], [f"r{n}" for n in range(6)]
    rows = {(draw.randrange(60), draw.randrange(6), draw.randrange(60)) for _ in range(250)}
    graph = graph_of(rows, entities, relations)
    clauses = parse_clauses("\n".join(random_rule(draw) for _ in range(7)))
    expected = closure_by_nemo(graph, clauses)
    assert len(expected) > len(rows)
    assert set(map(tuple, close(graph, clauses).facts.tolist())) == expected


def test_the_random_rules_hold_constants_and_repeated_variables():
    """Else the comparisons above would say less than they seem to."""
    found = set()

    @settings(max_examples=200, deadline=None, database=None)
    @given(clause=horn_clauses())
    def collect(clause):
        body, head = horn_parts(clause)
        constants = [not isinstance(term, Variable) for atom in body for term in atom.terms]
        found.add(f"{len(body)} body atoms")
        if any(constants):
            found.add("constant in body")
        if any(atom.subject == atom.object for atom in body):
            found.add("variable twice in an atom")
        if body and not all(isinstance(term, Variable) for term in head.terms):
            found.add("constant in head")

    collect()
    assert found == {
        *(f"{count} body atoms" for count in range(5)),
        "constant in body",
        "variable twice in an atom",
        "constant in head",
    }


def test_rounds_are_counted_and_reported():
    seen = Recorder()
    closure = close(CHAIN, TRANSITIVE, observer=seen)
    assert closure.complete
    assert [(number, new, seconds) for number, new, _, seconds in seen.of("derived")] == list(closure.rounds)
    assert [(round.number, round.new) for round in closure.rounds] == [(1, 2), (2, 1)]
    assert all(round.seconds > 0 for round in closure.rounds)


def test_given_facts_come_first_and_as_they_were_given():
    rows = np.array([[2, 0, 3], [0, 0, 1], [1, 0, 2]], dtype=np.int32)
    closure = close(CHAIN, TRANSITIVE, facts=rows)
    assert closure.facts[:3].tolist() == rows.tolist()
    assert closure.derived.tolist() == [[0, 0, 2], [1, 0, 3], [0, 0, 3]]


def test_one_round_applies_each_clause_once():
    closure = close(CHAIN, TRANSITIVE, rounds=1)
    assert closure.derived.tolist() == [[0, 0, 2], [1, 0, 3]]
    assert not closure.complete


def test_a_limit_stops_with_the_numbers():
    assert len(close(CHAIN, TRANSITIVE, limit=6).facts) == 6
    with pytest.raises(RunError, match="more than the limit of 5 facts in round 2"):
        close(CHAIN, TRANSITIVE, limit=5)


@pytest.mark.parametrize(
    "clause",
    [
        "p(X, Y), p(Z, U) => q(X, U)",
        "p(X, Y), p(Z, U), p(V, W), p(A, B) => q(X, U)",
        "p(X, Y), p(Z, U), p(Z, W) => p(X, W)",
    ],
)
def test_a_limit_and_a_memory_limit_hold_inside_a_round(clause, monkeypatch):
    """The first round would find 400 million facts; what is beyond the memory limit has little place on this disk."""

    @contextmanager
    def open_with_small_disk(*options):
        with open_store(*options) as store:
            store.execute("SET max_temp_directory_size = '1MB'")
            yield store

    monkeypatch.setattr("clausal.logic.engines.duck.open_store", open_with_small_disk)
    graph = graph_of({(n, 0, n) for n in range(20_000)}, [f"e{n}" for n in range(20_000)])
    with pytest.raises(RunError, match="more than the limit of 25,000 facts in round 1"):
        close(graph, parse_clauses(clause), limit=25_000, memory="300MB")


def test_atoms_that_only_have_to_be_there_are_not_multiplied():
    graph = graph_of({(n, 0, n + 1) for n in range(999)}, [f"e{n}" for n in range(1000)])
    closure = close(graph, parse_clauses("p(X, Y), p(Z, U), p(V, W), p(W, A), p(B, C) => q(Y, X)"))
    assert len(closure.derived) == 999
    assert len(close(graph, parse_clauses("p(X, Y), q(Z, U) => q(Y, X)")).derived) == 0


def test_candidates_that_repeat_do_not_count_towards_a_limit(monkeypatch):
    """Every fact is derived again and again, so that a round is asked for in more than one part."""
    monkeypatch.setattr("clausal.logic.closure.layers._FIRST_CANDIDATES", 1)
    rows = {(x, 0, y) for x in range(12) for y in range(12)}
    graph = graph_of(rows, [f"e{n}" for n in range(12)])
    clauses = parse_clauses("p(X, Y), p(Y, Z) => p(X, Z)\np(X, Y), p(Y, Z) => q(X, Z)")
    assert len(close(graph, clauses, limit=288).facts) == 288
    with pytest.raises(RunError, match="limit of 287"):
        close(graph, clauses, limit=287)


def test_many_rounds_are_merged_and_stay_what_they_are():
    rows = {(n, 0, n + 1) for n in range(24)} | {(0, 1, 1)}
    graph = graph_of(rows, [f"e{n}" for n in range(25)])
    closure = close(graph, parse_clauses("q(X, Y), p(Y, Z) => q(X, Z)"))
    assert [one.new for one in closure.rounds] == [1] * 23
    assert rounds_of(closure) == dict.fromkeys(rows, 0) | {(0, 1, n + 2): n + 1 for n in range(23)}


def test_a_round_without_room_is_done_in_slices(monkeypatch):
    rows = {(n, 0, n + 1) for n in range(40)}
    graph = graph_of(rows, [f"e{n}" for n in range(41)])
    whole = close(graph, TRANSITIVE)
    create = DuckEngine.create

    def without_room(self, table, query):
        at_once = table in ("round_2", "round_3") and "NOT EXISTS" in query
        if at_once or "subject % 1 = 0" in query or "subject % 4 = 2 AND object % 4 = 1" in query:
            raise NoRoomError("no room")
        create(self, table, query)

    monkeypatch.setattr(DuckEngine, "create", without_room)
    sliced = close(graph, TRANSITIVE)
    assert np.array_equal(sliced.facts, whole.facts)
    assert np.array_equal(sliced.round_of, whole.round_of)


def test_facts_of_relations_without_clauses_are_kept():
    graph = graph_of({(0, 0, 1), (3, 2, 3)})
    closure = close(graph, parse_clauses("p(X, Y) => q(Y, X)"))
    assert closure.facts.tolist() == [[0, 0, 1], [3, 2, 3], [1, 1, 0]]


def test_nothing_follows_from_nothing():
    closure = close(CHAIN, [], facts=no_facts())
    assert closure.facts.shape == (0, 3)
    assert closure.complete
    assert rounds_of(close(CHAIN, [])) == {(0, 0, 1): 0, (1, 0, 2): 0, (2, 0, 3): 0}


def test_facts_follow_from_a_clause_without_body_even_in_an_empty_graph():
    closure = close(CHAIN, parse_clauses("p(anna, bob)\np(X, Y) => q(Y, X)"), facts=no_facts())
    assert rounds_of(closure) == {(0, 0, 1): 1, (1, 1, 0): 2}


def test_clauses_that_derive_nothing_are_reported():
    clauses = parse_clauses("p(X, Y) | q(X, Y)\np(X, Y), q(X, Y) => false\np(X, anna)\np(X, Y) => q(X, Y)")
    closure = close(CHAIN, clauses)
    assert [clause for clause, _ in closure.left_out] == clauses[:3]
    for (_, reason), word in zip(closure.left_out, ("Horn", "false", "body"), strict=True):
        assert word in reason
    assert len(closure.derived) == 3


def test_the_result_does_not_depend_on_threads_or_on_spilling():
    draw = np.random.default_rng(0)
    rows = draw.integers(400, size=(6000, 3), dtype=np.int32)
    rows[:, 1] %= 2
    graph = graph_of({tuple(row) for row in rows.tolist()}, [f"e{n}" for n in range(400)], ["p", "q"])
    clauses = parse_clauses("p(X, Y), q(Y, Z) => p(X, Z)")
    plain, other = close(graph, clauses, rounds=3, threads=1), close(graph, clauses, rounds=3, threads=2, memory="64MB")
    assert len(plain.derived) > 10_000
    assert np.array_equal(plain.facts, other.facts)
    assert np.array_equal(plain.round_of, other.round_of)


MANY = "q(X, Y), q(Y, Z) => q(X, Z)\np(X, Y) => q(Y, X)\nr(X, Y), p(X, Z) => p(Z, Y)"


@pytest.mark.parametrize(
    ("text", "size", "entities", "limit"),
    [
        ("p(X, Y) => p(Y, X)", 1_500_000, 1_000_000, 10_000_000),
        ("p(X, Y), q(Y, Z) => r(X, Z)", 500_000, 60_000, None),
        (MANY, 300_000, 250_000, None),
        (MANY, 300_000, 250_000, 10_000_000),
    ],
    ids=["symmetric", "composition", "many", "many with a limit"],
)
def test_facts_of_a_multiple_of_the_memory_limit_are_closed_on_disk(text, size, entities, limit):
    """Beside a graph that is larger than the memory there is no room for joins: it was given up before."""
    draw = np.random.default_rng(0)
    facts = draw.integers(entities, size=(size, 3), dtype=np.int32)
    facts[:, 1] %= 3
    facts = facts[np.unique(fact_keys(facts, entities, 3), return_index=True)[1]]
    rules = encode_rules(parse_clauses(text), Names([], "entity"), Names(["p", "q", "r"], "relation"))
    found = close_rules(facts, rules, rounds=2, limit=limit, memory="16MB", threads=1)
    expected = close_rules(facts, rules, rounds=2)
    assert found.rounds
    assert [one.new for one in found.rounds] == [one.new for one in expected.rounds]
    assert np.array_equal(found.facts, expected.facts)
    assert np.array_equal(found.round_of, expected.round_of)


def test_facts_are_loaded_and_fetched_in_parts(monkeypatch):
    draw = np.random.default_rng(0)
    facts = np.unique(draw.integers(300, size=(3000, 3), dtype=np.int32) % [300, 4, 300], axis=0).astype(np.int32)
    rules = encode_rules(parse_clauses(MANY), Names([], "entity"), Names(["p", "q", "r", "s"], "relation"))
    expected = close_rules(facts, rules, rounds=12)
    monkeypatch.setattr(layers, "_SORTED", 700)
    monkeypatch.setattr(layers, "_FETCHED", 900)
    found = close_rules(facts, rules, rounds=12)
    assert len(found.derived) > 10_000
    assert np.array_equal(found.facts, expected.facts)
    assert np.array_equal(found.round_of, expected.round_of)


def test_a_closure_larger_than_the_memory_limit_lies_in_a_file_that_goes_with_it(monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    facts = np.arange(600_000, dtype=np.int32).repeat(3).reshape(-1, 3) * [1, 0, 1] + [0, 0, 1]
    rules = encode_rules(parse_clauses("p(X, Y) => p(Y, X)"), Names([], "entity"), Names(["p"], "relation"))
    found = close_rules(facts.astype(np.int32), rules, memory="14MB", threads=1)
    assert isinstance(found.facts, np.memmap)
    assert not isinstance(found.round_of, np.memmap)
    assert np.array_equal(found.derived, facts[:, ::-1])
    assert not list(tmp_path.iterdir())

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.posix_fallocate", full)
    with pytest.raises(RunError, match=r"no room for the 0\.0 GB of the closure .No space left on device.; name"):
        close_rules(facts.astype(np.int32), rules, memory="14MB", threads=1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rounds": 0}, "rounds must be at least 1, not 0"),
        ({"limit": -1}, "limit must be at least 1, not -1"),
        ({"threads": 0}, "threads must be at least 1, not 0"),
        ({"memory": "much"}, "'much' is no amount of memory"),
        ({"engine": "abacus"}, "unknown engine 'abacus'; expected duckdb or spark"),
        ({"master": "local[2]"}, "a master is for the Spark engine"),
    ],
)
def test_options_that_cannot_be_meant_are_refused(options, message):
    with pytest.raises(InputError) as error:
        close(CHAIN, TRANSITIVE, **options)
    assert message in str(error.value)


def test_clauses_that_do_not_fit_the_graph_are_refused():
    with pytest.raises(InputError, match="unknown relation 'pp'"):
        close(CHAIN, parse_clauses("pp(X, Y) => p(X, Y)"))
    with pytest.raises(InputError, match="the head's variable 'Z' is not in the body"):
        close(CHAIN, parse_clauses("p(X, Y) => p(X, Z)"))


def test_a_join_beyond_the_memory_limit_is_one_message(monkeypatch, tmp_path):
    # The folder to spill to cannot be made, as on a full disk.
    (tmp_path / "file").touch()
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path / "file"))
    entities = [f"e{n}" for n in range(3000)]
    graph = graph_of({(n, 0, n) for n in range(3000)}, entities)
    with pytest.raises(RunError, match=r"memory|disk"):
        close(graph, parse_clauses("p(X, X), p(Y, Y) => p(X, Y)"), memory="20MB")
