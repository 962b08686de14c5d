"""``clausal evaluate``: the documented JSON, CSV that programs read, splits, ties and labelled facts."""

import csv
import io

import numpy as np
import pytest
import torch

import clausal as package
from command_line import clausal, refused
from small_graphs import small_facts, train_options, write_facts

METRICS = {"mrr", "hits@1", "hits@3", "hits@5", "hits@10", "mean_rank", "median_rank", "count"}
SIDES = {"both", "subject", "object"}


def test_json_has_the_documented_keys(finished):
    result = clausal("evaluate", finished, "--format", "json").json
    assert set(result) == {"filtered", "raw", "parts", "relations", "ties", "filter", "split", "ranking"}
    for group in (result, result["parts"]["test-I"]):
        for kind in ("filtered", "raw"):
            assert set(group[kind]) == SIDES
            assert all(set(metrics) == METRICS for metrics in group[kind].values())
    assert set(result["parts"]) == {"test-I"}
    assert (result["split"], result["ties"], result["filter"]) == ("test", "realistic", "full")


def test_the_filtered_mrr_is_that_of_a_count_by_hand(finished):
    run = package.load(finished)
    known = {tuple(fact) for fact in run.graph.known.tolist()}
    inverse = []
    for subject, relation, object in run.graph.test.tolist():
        for side in (0, 2):
            candidates = [[subject, relation, object] for _ in run.graph.entities]
            for entity, candidate in enumerate(candidates):
                candidate[side] = entity
            scores = run.predictor.score(*torch.tensor(candidates).T).tolist()
            own = scores[(subject, relation, object)[side]]
            rivals = [s for c, s in zip(candidates, scores, strict=True) if tuple(c) not in known]
            better, equal = sum(s > own for s in rivals), sum(s == own for s in rivals)
            inverse.append(1 / (1 + better + equal / 2))
    result = clausal("evaluate", finished, "--format", "json").json
    assert result["filtered"]["both"]["mrr"] == pytest.approx(np.mean(inverse), abs=1e-6)


def test_csv_has_the_same_numbers_as_json(finished):
    rows = list(csv.DictReader(io.StringIO(clausal("evaluate", finished, "--format", "csv").stdout)))
    result = clausal("evaluate", finished, "--format", "json").json
    assert [row["facts ranked"] for row in rows] == [
        "test",
        "test, subjects",
        "test, objects",
        "test-I",
        "test, raw",
        "test-I, raw",
    ]
    assert float(rows[0]["MRR"]) == result["filtered"]["both"]["mrr"]
    assert float(rows[3]["Hits@10"]) == result["parts"]["test-I"]["filtered"]["both"]["hits@10"]
    assert int(rows[0]["facts"]) == 6


def test_ties_bound_each_other(finished):
    ranks = {
        ties: clausal("evaluate", finished, "--ties", ties, "--format", "json").json["filtered"]["both"]["mean_rank"]
        for ties in ("optimistic", "realistic", "pessimistic")
    }
    assert ranks["optimistic"] <= ranks["realistic"] <= ranks["pessimistic"]


def test_relations_are_reported_by_name(finished):
    result = clausal("evaluate", finished, "--split", "train", "--relations", "--format", "json").json
    assert set(result["relations"]) == {"manages", "outranks", "works_with"}
    assert sum(metrics["count"] for metrics in result["relations"].values()) == 78


def test_a_file_with_the_facts_of_a_split_gives_the_metrics_of_the_split(finished, graph_folder):
    by_name = clausal("evaluate", finished, "--split", "valid", "--format", "json").json
    by_file = clausal("evaluate", finished, "--split", graph_folder / "valid.tsv", "--format", "json").json
    assert by_file["filtered"] == by_name["filtered"]
    assert by_file["split"] == str(graph_folder / "valid.tsv")


def test_a_file_in_another_order_of_columns(finished, tmp_path):
    facts = small_facts()[:5]
    write_facts(tmp_path / "sro.tsv", facts)
    write_facts(tmp_path / "rso.tsv", [(relation, subject, object) for subject, relation, object in facts])
    straight = clausal("evaluate", finished, "--split", tmp_path / "sro.tsv", "--format", "json").json
    other = clausal("evaluate", finished, "--split", tmp_path / "rso.tsv", "--columns", "rso", "--format", "json").json
    assert other["filtered"] == straight["filtered"]


def test_a_file_with_unknown_names_is_refused_with_place_and_suggestion(finished, tmp_path):
    path = tmp_path / "facts.tsv"
    path.write_text("person 01\tmanages\tperson 02\nperson 01\tmanagse\tperson 02\n")
    refused(clausal("evaluate", finished, "--split", path), f"{path}:2", "'managse'", "did you mean 'manages'?")


def test_a_misspelt_split_is_refused(finished):
    refused(clausal("evaluate", finished, "--split", "tset"), "tset")


def labelled(path, labels):
    write_facts(path, [(*fact, str(label)) for fact, label in zip(small_facts(), labels, strict=False)])
    return path


def test_labelled_facts_give_areas(finished, tmp_path):
    path = labelled(tmp_path / "labelled.tsv", [1, 0, 1, 1, 0, 0, 1])
    result = clausal("evaluate", finished, "--labelled", path, "--format", "json")
    assert result.code == 0
    assert all(0 <= value <= 1 for key, value in result.json.items() if "auc" in key.casefold())
    assert clausal("evaluate", finished, "--labelled", path).stdout.count("labelled") >= 1


def test_labels_of_one_class_are_refused(finished, tmp_path):
    message = refused(clausal("evaluate", finished, "--labelled", labelled(tmp_path / "labelled.tsv", [1] * 5)))
    assert "label" in message or "true" in message


def test_a_run_without_test_facts_says_so(graph_folder, tmp_path):
    graph = tmp_path / "graph"
    graph.mkdir()
    write_facts(graph / "train.tsv", small_facts())
    (graph / "clauses.txt").write_text((graph_folder / "clauses.txt").read_text())
    for number, format in enumerate(("table", "json", "csv")):
        trained = clausal(*train_options(graph), "--out", tmp_path / f"run{number}", "--format", format)
        assert trained.code == 0
        assert trained.stdout.strip() == "" or format == "json"
    refused(clausal("evaluate", tmp_path / "run0"), "'test' of graph is empty")
