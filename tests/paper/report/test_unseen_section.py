"""The section on unseen entities: means over trainings, a row for each method that has records."""

import json

from clausal_paper.report.unseen import unseen_section


def record(method, facts, seed, mrr, *, clauses=False, **more):
    figures = {"mrr": mrr, "hits@1": 0.1, "hits@3": 0.2, "hits@10": 0.3, "count": 5}
    parts = {"test-unseen-seen": figures} if facts == "test" else {}
    return {"method": method, "facts": facts, "seed": seed, "clauses": clauses, "all": figures} | parts | more


def test_rows_are_means_over_trainings(tmp_path):
    records = [record("n-grams", "test", 0, 0.1), record("n-grams", "test", 1, 0.3), record("both", "k = 10", 0, 0.6)]
    records += [record("facts", "k = 10", 0, mrr, how=how) for how, mrr in (("fold-in", 0.5), ("refined", 0.4))]
    (tmp_path / "wn18rr.jsonl").write_text("".join(json.dumps(one) + "\n" for one in records))
    (tmp_path / "notes.md").write_text("A remark.")
    lines = unseen_section(tmp_path)
    assert "A remark." in lines
    assert "| n-grams of its text | without | test | 0.200 | 0.100 | 0.200 | 0.300 | 2 |" in lines
    for known, mrr in (
        ("k of its facts, folded in", 5),
        ("k of its facts, as an update does", 4),
        ("both of them", 6),
    ):
        assert f"| k = 10 | {known} | without | 0.{mrr}00 | 0.100 | 0.200 | 0.300 | 1 |" in lines
    assert not any("sentence" in line or "with |" in line.replace("without |", "") for line in lines)


def test_without_records_there_is_no_section(tmp_path):
    assert unseen_section(tmp_path) == []
