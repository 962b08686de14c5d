"""Tables in a narrow terminal: no line is too long, and no word or number is broken."""

import pytest
from rich.console import Console

from clausal.cli import output
from clausal.cli.output import print_table

METRICS = ("MRR", "Hits@1", "Hits@3", "Hits@5", "Hits@10", "mean rank", "median rank", "facts")
RANKED = [
    {"facts ranked": name, **dict.fromkeys(METRICS, 10.507), "facts": 11_243}
    for name in ("test", "test, subjects", "test-II, raw")
]
TRIAL = {
    "trial": 12,
    "valid mrr": 0.516,
    "state": "cut short",
    "epoch": 100,
    "seconds": 421,
    "learning_rate": "0.0512",
    "regulariser_weight": "0.0866",
    "weight": "0.00128",
    "dim": "2048",
    "batch_size": "1024",
}
ANSWER = {
    "rank": 1,
    "subject": "Montréal",
    "relation": "located_in",
    "object": "Northern America",
    "score": -9.902,
    "known": True,
    "split": "train",
    "probability": 0.255,
    "verdict": "not entailed",
}


@pytest.fixture
def printed(monkeypatch, capsys):
    def show(rows, width, title=None, **options):
        monkeypatch.setattr(output, "stdout", lambda: Console(width=width, highlight=False))
        print_table(rows, title, **options)
        return capsys.readouterr().out

    return show


@pytest.mark.parametrize("rows", [RANKED, [TRIAL], [ANSWER]], ids=["ranking", "search", "answers"])
def test_eighty_columns_hold_a_table_without_breaking_a_word(printed, rows):
    assert max(map(len, printed(rows, 200).splitlines())) > 80
    narrow = printed(rows, 80)
    assert max(map(len, narrow.splitlines())) <= 80
    shown = set(narrow.replace("│", " ").replace("┃", " ").split())
    headings = {part for name in rows[0] for part in name.replace("_", "_ ").split()}
    cells = {word for row in rows for value in row.values() for word in output._cell(value).split()}
    assert headings | cells <= shown


def test_a_name_of_any_length_still_fits(printed):
    rows = [{**ANSWER, "object": f"http://x{'x' * 300}#{n}"} for n in (1, 2)]
    lines = printed(rows, 80, names=("subject", "relation", "object"), spare=("known",)).splitlines()
    assert max(map(len, lines)) <= 80
    assert [sum("…" in line and f"#{n}" in line for line in lines) for n in (1, 2)] == [1, 1]
    whole = printed(rows, 80, whole=True)
    assert max(map(len, whole.splitlines())) <= 80
    assert whole.count("x") == 602


def test_a_title_is_one_line_however_narrow_the_table(printed):
    assert printed([{"#": 1}], 80, title="RUN: largest violations of all")[:31] == "RUN: largest violations of all\n"
