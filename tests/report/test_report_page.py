"""A report is one page that needs nothing else, says what was measured, and what it does without."""

import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

from clausal import Graph, Settings, load, parse_clauses, train
from clausal.report import make_report
from clausal.report.certifying import certify_within
from command_line import clausal, refused

QUICK = Settings.from_mapping(
    {"model": {"dim": 4}, "train": {"epochs": 2, "passes": 2, "device": "cpu"}, "evaluate": {"every": 1}}
)
SECTIONS = ["The graph", "How it was trained", "Results", "Clauses", "What the clauses changed", "Sample answers"]
SECTIONS += ["What was left out, and why", "Where it comes from"]


class Reader(HTMLParser):
    """Takes down elements, attributes and text, and complains about elements that are not closed in order."""

    VOID = ("meta", "br", "line", "circle", "rect", "path")

    def __init__(self, page):
        super().__init__()
        self.open, self.elements, self.text, self.headings = [], [], [], []
        self.feed(page)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "style" not in self.open:
            self.text.append(data)
        if self.open and self.open[-1] == "h2":
            self.headings.append(data)

    @property
    def words(self):
        return " ".join(" ".join(self.text).split())


@pytest.fixture(scope="module")
def report(finished, tmp_path_factory):
    out = tmp_path_factory.mktemp("report") / "report.html"
    result = clausal("report", finished, "--out", out)
    assert result.code == 0, result.stderr
    assert result.stdout == ""
    return out.read_text(encoding="utf-8")


def test_the_page_needs_nothing_from_elsewhere(report):
    found = Reader(report)
    assert not [name for name, _ in found.elements if name in ("script", "link", "img", "iframe", "object", "form")]
    for _, attributes in found.elements:
        assert not [name for name in attributes if name.startswith("on") or name in ("src", "style")]
        assert attributes.get("href", "#").startswith("#")
    assert "@import" not in report
    assert "url(" not in report
    policies = [found.get("content") for name, found in found.elements if found.get("http-equiv")]
    assert policies == ["default-src 'none'; style-src 'unsafe-inline'"]
    assert set(re.findall(r"https?://[^\"' )<]+", report)) == {"http://www.w3.org/2000/svg"}


def test_the_page_has_every_section_and_links_lead_to_them(report):
    found = Reader(report)
    assert found.headings == SECTIONS
    ids = {attributes["id"] for _, attributes in found.elements if "id" in attributes}
    links = {attributes["href"] for name, attributes in found.elements if name == "a"}
    assert links == {f"#{one}" for one in ids}


def test_figures_of_the_page_are_those_of_the_run(report, finished):
    words, run = Reader(report).words, load(finished)
    both = run.metrics["test"]["filtered"]["both"]
    assert f"MRR of {both['mrr']:.3f}" in words
    part = run.metrics["test"]["parts"]["test-I"]["filtered"]["both"]
    assert f"test-I {part['count']} {part['mrr']:.3f} {part['hits@1']:.3f}" in words
    certification = run.certify()
    for verdict, count in certification.verdicts.items():
        assert f"{count} {verdict}" in words
    for one in certification.clauses:
        assert str(one.clause) in words
        assert f"{one.attained:.3f}" in words
        if one.verdict == "violated":
            assert f"worst: {one.entities.example}" in words


def test_the_page_names_no_folder_of_the_machine(report, finished):
    assert str(finished.parent) not in report


def test_curves_have_a_point_for_each_validation(report, finished):
    for title in ("Loss on train facts", "MRR on valid", "Inconsistency with the clauses"):
        assert title in report
    (points,) = re.findall(r'aria-label="MRR on valid".*?points="([^"]*)"', report, re.DOTALL)
    assert len(points.split()) == 2  # of 4 epochs every second is validated


def test_dark_colours_print_and_phones_are_styled(report):
    for rule in ("prefers-color-scheme: dark", "@media print", "max-width: 600px", "color-scheme"):
        assert rule in report


STRANGE = {
    "no held-out facts": {"train": [("a", "r", "b"), ("b", "r", "c")]},
    "one self-loop": {"train": [("a", "r", "a")]},
    "valid alone": {"train": [("a", "r", "b"), ("b", "s", "a")], "valid": [("b", "r", "a")]},
    "unseen in train": {"train": [("a", "r", "b")], "test": [("c", "t", "d")]},
    "hostile names": {
        "train": [("<script>x</script>", "r & s", '"><b>'), ('"><b>', "r & s", "\x1b[31m")],
        "test": [('"><b>', "r & s", "<script>x</script>")],
    },
    "many relations": {
        "train": [(f"e{n % 7}", f"r{n}", f"e{n % 5}") for n in range(300)],
        "test": [("e1", "r1", "e2")],
    },
}


@pytest.mark.parametrize("facts", STRANGE.values(), ids=STRANGE)
def test_strange_graphs_have_a_report_that_is_whole(facts):
    graph = Graph.from_triples(**facts)
    found = Reader(make_report(train(graph, (), QUICK)))
    assert found.headings == [name for name in SECTIONS if name != "What the clauses changed"]
    assert "trained without" in found.words
    assert not [name for name, _ in found.elements if name in ("script", "b")]
    for name in {name for fact in facts["train"][:3] for name in fact if name.isprintable()}:
        assert name in found.words
    assert ("neither test nor valid" in found.words) == (not len(graph.test) and not len(graph.valid))


def test_a_part_of_test_may_have_any_name():
    graph = Graph.from_triples([("a", "r", "b"), ("b", "r", "a")], test=[("a", "r", "a")])
    named = replace(graph, parts={"entities": graph.test, "<b>": graph.test})
    words = Reader(make_report(train(named, (), QUICK))).words
    assert "of entities 1" in words
    assert "of <b> 1" in words


def test_clauses_of_every_kind_have_a_row():
    graph = Graph.from_triples([(f"e{n % 7}", f"r{n % 3}", f"e{n % 5}") for n in range(60)]).split(seed=1)
    clauses = parse_clauses(
        "r0(X, Y) => r1(Y, X)\nr0(X, Y), r1(Y, Z), r2(Z, W) => r0(X, W)\nr0(X, Y) => false\n"
        "r0(X, Y) => r1(X, Y) | r2(X, Y)\nr0(X, e1) => r1(X, e2) <0.5>"
    )
    words = Reader(make_report(train(graph, clauses, QUICK))).words
    for clause in clauses:
        assert str(clause).removesuffix(" <0.5>") in words


def test_certificates_end_with_their_time_and_say_so(finished):
    run = load(finished)
    found = certify_within(run, 0.0)
    assert len(found.clauses) == 3
    assert all(one.entities is None for one in found.clauses)
    assert ["over real entities" in text for text in found.left_out] == [True]
    whole = certify_within(run, 1000.0)
    assert whole.left_out == []
    assert [one.to_dict() for one in whole.clauses] == [one.to_dict() for one in run.certify().clauses]
    assert whole.verdicts == run.certify().verdicts


def test_thousands_of_clauses_are_certified_in_parts(finished):
    run = load(finished)
    many = [run.clauses[place % 3] for place in range(100)]
    found = certify_within(type(run)(run.predictor, run.graph, many, run.settings), 0.0)
    assert [one is None for one in found.clauses] == [False] * 64 + [True] * 36
    assert found.verdicts["not certified"] == 36


def test_certificates_can_be_left_out(finished, tmp_path):
    assert clausal("report", finished, "--out", tmp_path / "r.html", "--no-certify").code == 0
    words = Reader((tmp_path / "r.html").read_text(encoding="utf-8")).words
    assert "left out by --no-certify" in words
    assert "verdict" not in words.split("What the clauses changed")[-2]


def test_what_cannot_be_written_is_refused_before_anything_is_measured(finished, unfinished, tmp_path):
    refused(clausal("report", finished, "--out", tmp_path / "report.pdf"), "ends in .html")
    refused(clausal("report", finished, "--out", tmp_path / "none" / "r.html"), "no such folder")
    refused(clausal("report", finished, "--out", tmp_path / "r.html", "--seconds", "-1"), "--seconds")
    refused(clausal("report", unfinished, "--out", tmp_path / "r.html"), "not finished")
    assert not list(tmp_path.glob("*.html"))


def test_the_same_run_has_the_same_report(finished):
    run = load(finished)
    assert make_report(run) == make_report(run)


def test_a_sample_is_around_the_entity_of_the_most_relations():
    from clausal.graph.html import around, central_entity

    facts = [("hub", f"r{n}", f"x{n}") for n in range(3)] + [("busy", "r0", f"y{n}") for n in range(50)]
    graph = Graph.from_triples([*facts, ("hub", "r0", "hub")])
    assert graph.entities[central_entity(graph.train)] == "hub"
    for nodes in (2, 5, 30):
        edges = around(graph, "busy", nodes=nodes)
        assert len({name for edge in edges for name in (edge.subject, edge.object)}) <= nodes
        known = {tuple(row) for row in np.asarray(graph.train).tolist()}
        for edge in edges:
            ids = graph.entities.id(edge.subject), graph.relations.id(edge.relation), graph.entities.id(edge.object)
            assert ids in known


@pytest.mark.parametrize(
    "metrics",
    [
        "{}",
        '{"training": [], "race": 3, "clauses": {"a": 1}, "test": []}',
        '{"training": {"epochs": "x", "seconds": "<b>", "versions": [1], "fast_forms": 7}, "race": {"explanation": 1}}',
        '{"clauses": [1, {"clause": ["<b>"], "mrr with": "x"}], "test": {"filtered": {"both": {"mrr": "x"}}}}',
    ],
)
def test_a_report_trusts_no_metrics(metrics, copied, tmp_path):
    (copied / "metrics.json").write_text(metrics)
    (copied / "log.jsonl").write_text('{"epoch": 1, "seconds": 1, "valid": 3, "inconsistency": "x", "certified": []}\n')
    result = clausal("report", copied, "--out", tmp_path / "r.html", "--no-certify")
    assert result.code == 0, result.stderr
    assert "b" not in [name for name, _ in Reader((tmp_path / "r.html").read_text(encoding="utf-8")).elements]
    run = load(copied)
    assert repr(run).startswith("<Run complex of company")
    assert "complex" in run._repr_html_()


def test_votes_are_a_ranking_of_the_report(finished):
    run = load(finished).fuse(seconds=5)
    words = Reader(make_report(run, certify=False)).words
    assert "the model and votes of rules" in words
    assert "what train entails first, then the model" in words
