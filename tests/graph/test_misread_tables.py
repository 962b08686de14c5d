"""No way of misreading a table ends in a graph of wrong facts; the docs list the same ways."""

from pathlib import Path

import pytest
from graph_files import named
from table_cases import CASES, row

from clausal.errors import InputError
from clausal.graph import load_graph


@pytest.mark.parametrize("case", CASES, ids=[case.what for case in CASES])
def test_a_table_is_read_right_or_refused(tmp_path, case):
    path = tmp_path / case.name
    path.write_bytes(case.content.encode() if isinstance(case.content, str) else case.content)
    if case.message is not None:
        with pytest.raises(InputError, match=case.message) as caught:
            load_graph(path, **case.options)
        assert case.name in str(caught.value) or "missing value" in case.message
        return
    graph = load_graph(path, valid=0, test=0, **case.options)
    assert named(graph, graph.train) == list(case.facts)
    assert (case.note is None) == (not graph.notes) or "comment" in case.what
    assert case.note is None or any(case.note in note for note in graph.notes)


def test_there_are_twenty_ways_and_more():
    assert len({case.what for case in CASES}) == len(CASES) >= 20


def test_the_docs_list_the_same_ways():
    page = (Path(__file__).parents[2] / "docs/reference/files-of-facts.md").read_text(encoding="utf-8")
    listed = page.partition("## Ways of misreading a table")[2].partition("\n## ")[0]
    rows = [line for line in listed.splitlines() if line.startswith("|")]
    assert rows[2:] == [row(case) for case in CASES]
