"""The embedded demo graph keeps its promises: true clauses, a sound split, Test-II is what train deduces."""

from __future__ import annotations

from importlib.resources import files

import pytest

from clausal.logic.parser import parse_clauses
from clausal.logic.syntax import And, Atom, Clause, Falsum, Implies, Variable

FOLDER = files("clausal") / "data" / "world"
SPLITS = ("train", "valid", "test")

Fact = tuple[str, str, str]


def read(part: str) -> list[Fact]:
    lines = (FOLDER / f"{part}.tsv").read_text(encoding="utf-8").splitlines()
    facts = []
    for line in lines:
        subject, relation, target = line.split("\t")
        facts.append((subject, relation, target))
    return facts


@pytest.fixture(scope="module")
def clauses() -> list[Clause]:
    return parse_clauses((FOLDER / "clauses.txt").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def graph() -> dict[str, list[Fact]]:
    return {part: read(part) for part in (*SPLITS, "test-I", "test-II")}


def body_and_head(clause: Clause) -> tuple[list[Atom], Atom | Falsum]:
    assert isinstance(clause.formula, Implies)
    body, head = clause.formula.body, clause.formula.head
    atoms = [atom for atom in (body.formulas if isinstance(body, And) else [body]) if isinstance(atom, Atom)]
    assert len(atoms) + isinstance(head, Atom) == len(clause.atoms)
    assert isinstance(head, Atom | Falsum)
    return atoms, head


def name(term: object) -> str:
    assert isinstance(term, Variable)
    return term.name


def groundings(body: list[Atom], facts: set[Fact]) -> list[dict[str, str]]:
    """All bindings of the variables that make the body true, by nested loops over an index by subject."""
    found: list[dict[str, str]] = [{}]
    for atom in body:
        by_subject: dict[str, list[str]] = {}
        for subject, relation, target in facts:
            if relation == atom.relation:
                by_subject.setdefault(subject, []).append(target)
        first, second = name(atom.subject), name(atom.object)
        extended = []
        for binding in found:
            for subject in [binding[first]] if first in binding else by_subject:
                for target in by_subject.get(subject, []):
                    if binding.get(second, target) == target:
                        extended.append({**binding, first: subject, second: target})
        found = extended
    return found


def deduce(facts: set[Fact], clauses: list[Clause]) -> set[Fact]:
    known = set(facts)
    while True:
        new = {
            (binding[name(head.subject)], head.relation, binding[name(head.object)])
            for body, head in map(body_and_head, clauses)
            if isinstance(head, Atom)
            for binding in groundings(body, known)
        }
        if new <= known:
            return known
        known |= new


def test_every_clause_holds_for_the_whole_graph(graph: dict[str, list[Fact]], clauses: list[Clause]) -> None:
    facts = {fact for split in SPLITS for fact in graph[split]}
    assert deduce(facts, clauses) == facts
    constraints = [body for body, head in map(body_and_head, clauses) if isinstance(head, Falsum)]
    assert constraints
    for body in constraints:
        assert groundings(body, facts) == []


def test_clauses_mention_only_relations_of_the_graph(graph: dict[str, list[Fact]], clauses: list[Clause]) -> None:
    relations = {relation for _, relation, _ in graph["train"]}
    assert {atom.relation for clause in clauses for atom in clause.atoms} <= relations


def test_test_ii_is_exactly_what_train_deduces(graph: dict[str, list[Fact]], clauses: list[Clause]) -> None:
    deducible = deduce(set(graph["train"]), clauses)
    assert set(graph["test-II"]) == set(graph["test"]) & deducible
    assert set(graph["test-I"]) == set(graph["test"]) - deducible
    assert len(graph["test-I"]) > 400
    assert len(graph["test-II"]) > 900


def test_valid_has_the_same_share_of_deducible_facts_as_test(
    graph: dict[str, list[Fact]], clauses: list[Clause]
) -> None:
    deducible = deduce(set(graph["train"]), clauses)
    share = len(deducible & set(graph["valid"])) / len(graph["valid"])
    assert share == pytest.approx(len(graph["test-II"]) / len(graph["test"]), abs=0.01)


def test_no_fact_occurs_twice_and_no_split_overlaps_another(graph: dict[str, list[Fact]]) -> None:
    facts = [fact for split in SPLITS for fact in graph[split]]
    assert len(facts) == len(set(facts)) == 4665


def test_every_entity_and_relation_occurs_in_train(graph: dict[str, list[Fact]]) -> None:
    entities = {entity for fact in graph["train"] for entity in (fact[0], fact[2])}
    relations = {relation for _, relation, _ in graph["train"]}
    assert len(entities) == 1031
    assert len(relations) == 8
    for subject, relation, target in graph["valid"] + graph["test"]:
        assert {subject, target} <= entities
        assert relation in relations


def test_each_relation_keeps_at_least_ten_facts_in_train(graph: dict[str, list[Fact]]) -> None:
    for relation in {relation for _, relation, _ in graph["test"]}:
        assert sum(fact[1] == relation for fact in graph["train"]) >= 10


@pytest.mark.parametrize(
    "fact",
    [
        ("Paris", "capital_of", "France"),
        ("Astana", "capital_of", "Kazakhstan"),
        ("Spain", "borders", "Portugal"),
        ("Portugal", "borders", "Spain"),
        ("Brazil", "official_language", "Portuguese"),
        ("Switzerland", "uses_currency", "Swiss franc"),
        ("Italian", "spoken_in", "Switzerland"),
        ("Mexico", "located_in", "Central America"),
        ("Central America", "located_in", "North America"),
        ("Djibouti (city)", "located_in", "Africa"),
    ],
)
def test_well_known_facts_are_there_under_readable_names(fact: Fact, graph: dict[str, list[Fact]]) -> None:
    assert any(fact in graph[split] for split in SPLITS)


def test_names_have_no_space_at_either_end(graph: dict[str, list[Fact]]) -> None:
    assert all(part == part.strip() != "" for facts in graph.values() for fact in facts for part in fact)


def test_the_folder_states_its_sources_and_stays_small() -> None:
    source = (FOLDER / "SOURCE.md").read_text(encoding="utf-8")
    assert "CC BY 4.0" in source
    assert "UNICODE LICENSE V3" in source
    assert sum(len(file.read_bytes()) for file in FOLDER.iterdir() if file.is_file()) < 400_000
