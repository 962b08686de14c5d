"""Objects that a person meets print in a line, and show themselves in a notebook, whatever their names hold."""

import xml.etree.ElementTree as ElementTree

import pytest

import clausal
from clausal import Graph, Settings, load, parse_clause, parse_clauses, train
from clausal.run import Answers

SMALL = Settings.from_mapping({"model": {"dim": 4}, "train": {"epochs": 1, "passes": 1, "device": "cpu"}})


@pytest.fixture(scope="module")
def run(finished):
    return load(finished)


def words_of(shown):
    """Read what a notebook is given as XML, without the style sheet."""
    tree = ElementTree.fromstring(shown._repr_html_())
    assert tree.get("class") == "clausal"
    assert not [one for one in tree.iter() if one.tag.rpartition("}")[2] in ("script", "img")]
    tree.remove(tree.find("style"))
    return " ".join(" ".join(tree.itertext()).split())


def test_each_object_prints_in_a_line_and_shows_itself(run, finished):
    answers = run.predict("manages(person 01, ?)", k=3, ranking="entailed")
    evaluation, certification = run.evaluate(per_relation=True), run.certify()
    explanations = run.explain(answers)
    proof = next(one.proof for one in explanations if one.proof is not None)
    mrr = f"{evaluation.filtered['both']['mrr']:.3f}"
    lines = {
        run.graph: "<Graph company: 24 entities, 3 relations,",
        run: f"<Run complex of company with 3 clauses, MRR {mrr} on test, in {finished}>",
        evaluation: f"<Evaluation of test by model: MRR {mrr}, Hits@10 ",
        certification: "<Certification of 3 clauses over domain: ",
        proof: f"<Proof of {proof.fact}: ",
        run.show("person 03"): "<EntityView of person 03: ",
    }
    for shown, beginning in lines.items():
        assert repr(shown).startswith(beginning)
        assert "\n" not in repr(shown)
        assert words_of(shown)
    assert mrr in words_of(run)
    assert "manages" in words_of(run.graph)
    assert "works_with" in words_of(evaluation)
    assert "violated" in words_of(certification) or "holds" in words_of(certification)
    assert str(proof.fact) in words_of(proof)
    assert words_of(explanations[0])
    assert repr(answers).splitlines()[0].startswith(f"  1. {answers[0].relation}({answers[0].subject}, ")


def test_a_clause_prints_as_it_is_written():
    clause = parse_clause("p(X, Y), q(Y, Z) => r(X, Z) <0.5>")
    assert repr(clause) == "<Clause p(X, Y), q(Y, Z) => r(X, Z) <0.5>>"
    assert "p(X, Y), q(Y, Z) => r(X, Z)" in words_of(clause)


def test_answers_are_a_list_that_a_table_can_be_made_of(run):
    pandas = pytest.importorskip("pandas")
    answers = run.predict("manages(person 01, ?)", k=4)
    assert isinstance(answers, list)
    assert answers == list(answers)
    assert list(pandas.DataFrame(answers)["rank"]) == [1, 2, 3, 4]
    both = run.predict(["manages(person 01, ?)", "manages(?, person 01)"], k=4)
    assert [type(one) for one in both] == [Answers, Answers]
    assert both[0] == answers
    assert repr(Answers()) == ""
    assert words_of(answers).count("manages") == 4


def test_a_view_holds_known_entailed_and_new_facts(run):
    view = run.show("person 03", nodes=12, k=5)
    train_facts = {tuple(row) for row in run.graph.train.tolist()}
    derived = {tuple(row) for row in run.closure.derived.tolist()}
    known = {tuple(row) for row in run.graph.known.tolist()}
    for edge in view.edges:
        ids = (
            run.graph.entities.id(edge.subject),
            run.graph.relations.id(edge.relation),
            run.graph.entities.id(edge.object),
        )
        if edge.kind == "known":
            assert ids in train_facts
        elif edge.kind == "entailed":
            assert ids in derived
        else:
            assert ids not in known | derived
    assert [one.rank for one in view.predicted] == [1, 2, 3, 4, 5]
    assert all("person 03" in (one.subject, one.object) and not one.known for one in view.predicted)
    chances = [one.probability or 0 for one in view.predicted]
    assert chances == sorted(chances, reverse=True)
    assert "new facts about person 03" in words_of(view)


def test_an_unknown_entity_is_an_error_with_a_suggestion(run):
    with pytest.raises(clausal.InputError, match="did you mean 'person 03'"):
        run.show("persn 03")


@pytest.mark.parametrize("clauses", ["", "r(X, Y) => s(X, Y)"])
def test_strange_names_and_lonely_entities_can_be_shown(clauses):
    odd = '<b>&"\x00'
    graph = Graph.from_triples([(odd, "r", odd), ("a", "s", "b")], test=[("c", "r", "a")])
    run = train(graph, parse_clauses(clauses) if clauses else (), SMALL)
    for name in (odd, "c"):
        view = run.show(name)
        assert words_of(view) is not None
        assert repr(view)
    for shown in (graph, run, run.predict(("a", "r", None)), run.evaluate()):
        assert words_of(shown)


@pytest.mark.parametrize("module", ["", ".run", ".logic", ".report", ".observers"])
def test_completion_shows_the_public_names(module):
    from importlib import import_module

    package = import_module(f"clausal{module}")
    assert set(dir(package)) == set(package.__all__)
    for name in dir(package):
        assert getattr(package, name) is not None
