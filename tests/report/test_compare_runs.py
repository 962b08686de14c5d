"""Runs are compared on the same facts: metrics by hand, intervals that hold them; other graphs are refused."""

import csv
import io
from dataclasses import replace

import numpy as np
import pytest

from clausal import Graph, Settings, load_graph, train
from clausal.errors import InputError
from clausal.evaluation.bootstrap import bootstrap_means
from clausal.report import compare_runs, comparison_page
from command_line import clausal, refused
from small_graphs import train_options


def settings(**changes):
    start = {"model": {"dim": 4}, "train": {"epochs": 2, "passes": 2, "device": "cpu"}}
    return Settings.from_mapping({section: values | changes.get(section, {}) for section, values in start.items()})


@pytest.fixture(scope="module")
def two(graph_folder):
    graph = load_graph(graph_folder)
    return [train(graph, (), settings(train={"seed": seed, "epochs": 2 + 3 * seed})) for seed in (0, 1)]


def test_metrics_and_differences_are_those_of_the_ranks(two):
    found = compare_runs(two, ["a", "b"])
    ranks = [run.evaluate("test").ranks for run in two]
    for run, label, mine in zip(two, ("a", "b"), ranks, strict=True):
        (row,) = [one for one in found.measured if (one.run, one.part) == (label, "test")]
        both = run.evaluate("test").filtered["both"]
        assert {name: row.metrics[name] for name in row.metrics} == pytest.approx({n: both[n] for n in row.metrics})
        assert row.facts == len(mine)
        (part,) = [one for one in found.measured if (one.run, one.part) == (label, "test-I")]
        assert part.metrics["mrr"] == pytest.approx(run.evaluate("test").parts["test-I"]["filtered"]["both"]["mrr"])
    first, second = found.measured[:2]
    assert first.differences == {}
    difference = second.differences["mrr"]
    assert difference.value == pytest.approx(second.metrics["mrr"] - first.metrics["mrr"])
    assert difference.low <= difference.value <= difference.high


def test_facts_that_moved_are_those_of_the_ranks(two):
    found = compare_runs(two, ["a", "b"], most=100)
    graph, moved = two[0].graph, set()
    before, after = (run.evaluate("test").ranks for run in two)
    for side in ("subject", "object"):
        for fact, one, other in zip(graph.test, before.of("filtered", side), after.of("filtered", side), strict=True):
            if one != other:
                subject, relation, object = fact
                names = graph.entities[subject], graph.relations[relation], graph.entities[object]
                moved.add((names, side, one, other))
    assert {(tuple(one.fact), one.hidden, one.before, one.after) for one in found.moved} == moved
    gains = [1 / one.after - 1 / one.before for one in found.moved]
    rising = [gain for gain in gains if gain > 0]
    assert gains == sorted(rising, reverse=True) + sorted(gain for gain in gains if gain < 0)


def test_settings_that_differ_are_named(two):
    rows = {row["setting"]: (row["a"], row["b"]) for row in compare_runs(two, ["a", "b"]).settings}
    assert rows == {"train.seed": ("0", "1"), "train.epochs": ("2", "5")}


def test_a_run_and_itself_differ_in_nothing(two):
    found = compare_runs([two[0], two[0]])
    assert found.labels == ["1. complex", "2. complex"]
    assert not found.settings
    assert not found.moved
    assert set(found.measured[1].differences["mrr"]) == {0.0}


def test_facts_in_another_order_are_the_same_graph(two):
    graph = two[1].graph
    shuffled = replace(two[1], graph=replace(graph, test=graph.test[::-1].copy(), train=graph.train[::-1].copy()))
    assert compare_runs([two[0], shuffled]).measured[1].metrics == compare_runs(two).measured[1].metrics


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda facts: [*facts, ("new one", "r", "a")], "1 entities are only in b: new one"),
        (lambda facts: [*facts, ("a", "new relation", "a")], "1 relations are only in b: new relation"),
        (lambda facts: facts[1:], "1 facts of train are only in a: r(a, b)"),
    ],
)
def test_graphs_that_differ_are_refused_with_how(change, said):
    facts = [("a", "r", "b"), ("b", "r", "a"), ("a", "r", "a")]
    runs = [train(Graph.from_triples(one, test=[("b", "r", "b")]), (), settings()) for one in (facts, change(facts))]
    with pytest.raises(InputError, match="not trained on the same graph") as error:
        compare_runs(runs, ["a", "b"])
    assert said in str(error.value)


def test_too_few_runs_and_empty_splits_are_refused(two):
    with pytest.raises(InputError, match="two runs or more"):
        compare_runs(two[:1])
    graph = replace(two[0].graph, test=two[0].graph.test[:0], parts={})
    with pytest.raises(InputError, match="no facts"):
        compare_runs([replace(run, graph=graph) for run in two])


def test_the_bootstrap_covers_about_as_often_as_it_says():
    draw, inside = np.random.default_rng(1), 0
    for seed in range(200):
        sample = draw.normal(0.3, 1.0, 60)
        low, high = np.percentile(bootstrap_means(sample, samples=300, seed=seed), (2.5, 97.5))
        inside += low <= 0.3 <= high
    assert 178 <= inside <= 199  # of 200: 95 % less what a bootstrap of 60 loses, and chance
    assert len(bootstrap_means(np.empty(0))) == 0


def test_the_command_prints_tables_csv_json_and_a_page(graph_folder, finished, tmp_path):
    other = tmp_path / "other"
    assert clausal(*train_options(graph_folder, train__seed=3), "--out", other).code == 0
    table = clausal("compare", finished, other, "--out", tmp_path / "c.html")
    assert table.code == 0
    for text in ("train.seed", "MRR more", "settings that differ", "paired bootstrap"):
        assert text in table.stdout
    page = (tmp_path / "c.html").read_text(encoding="utf-8")
    assert "<script" not in page
    assert "train.seed" in page
    payload = clausal("compare", finished, other, "--format", "json").json
    assert payload["runs"] == ["finished", "other"]
    rows = list(csv.DictReader(io.StringIO(clausal("compare", finished, other, "--format", "csv").stdout)))
    assert float(rows[1]["mrr more"]) == payload["metrics"][1]["differences"]["mrr"]["value"]
    refused(clausal("compare", finished), "two runs")
    refused(clausal("compare", finished, other, "--out", tmp_path / "c.txt"), ".html")
    refused(clausal("compare", finished, other, "--most", "-1"), "--most")


def test_a_page_escapes_the_names_of_runs(two):
    page = comparison_page(compare_runs(two, ["<b>a</b>", "b & c"]))
    assert "<b>" not in page
    assert "&lt;b&gt;a&lt;/b&gt;" in page
