"""The published data sets have their published counts, and parts of test lie inside test."""

import gzip
import hashlib

import pytest

from clausal.graph import DATASETS, dataset_clauses, load_graph

COUNTS = {
    "fb122": (9_738, 122, 91_638, 9_595, 11_243, {"test-I": 5_057, "test-II": 6_186}),
    "wn18": (40_943, 18, 141_442, 5_000, 5_000, {"test-I": 1_394, "test-II": 3_606}),
    "fb15k-237": (14_541, 237, 272_115, 17_535, 20_466, {}),
    "wn18rr": (40_943, 11, 86_835, 3_034, 3_134, {}),
}
UNSEEN = {"fb15k-237": (9, 28), "wn18rr": (210, 210)}


def test_every_known_data_set_has_counts_here():
    assert set(COUNTS) == set(DATASETS)


@pytest.mark.parametrize("name", COUNTS)
def test_counts_are_those_published(clausal_data, name):
    graph = load_graph(name.upper())
    sizes = [len(graph.entities), len(graph.relations), *(len(facts) for facts in graph.splits.values())]
    assert (*sizes, {part: len(facts) for part, facts in graph.parts.items()}) == COUNTS[name]
    assert graph.duplicates == {}
    assert graph.name == name
    assert graph.notes == tuple(
        f"{count} facts of {split} hold an entity that train does not have"
        for split, count in zip(("valid", "test"), UNSEEN.get(name, ()), strict=False)
    )


@pytest.mark.parametrize("name", ["fb122", "wn18"])
def test_the_two_parts_partition_test(clausal_data, name):
    graph = load_graph(name)
    parts = [set(map(tuple, facts.tolist())) for facts in graph.parts.values()]
    assert parts[0] | parts[1] == set(map(tuple, graph.test.tolist()))
    assert not parts[0] & parts[1]


@pytest.mark.parametrize("name", COUNTS)
def test_hashes_of_the_catalogue_are_those_of_the_files(clausal_data, name):
    for file in DATASETS[name].files:
        path = clausal_data / name / file.name
        content = (
            path.read_bytes() if path.exists() else gzip.decompress(path.with_name(path.name + ".gz").read_bytes())
        )
        assert hashlib.sha256(content).hexdigest() == file.sha256


def test_clause_files_come_with_their_data_sets(clausal_data):
    lines = {
        (name, simple): len(path.read_text().splitlines())
        for name in DATASETS
        for simple in (False, True)
        if (path := dataset_clauses(name, simple=simple))
    }
    assert lines == {("fb122", False): 47, ("fb122", True): 38, ("wn18", False): 14, ("wn18", True): 14}
