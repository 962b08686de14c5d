"""The section on the paper's claims: figures from records, and whether a claim holds by them."""

import json

from clausal_paper.report.claims import claims_section


def record(row, seed, best, last=None):
    """Return what a claim reads of a record."""
    parts = ("test", "test-I", "test-II")
    measured = {"metrics": {"full": {"realistic": {part: {"mrr": best} for part in parts}}}}
    if last is not None:
        measured["last"] = {"full": {"realistic": {part: {"mrr": last} for part in parts}}}
    return {"row": row, "seed": seed, "settings": {}, **measured}


def write(folder, *records):
    """Write records as ``clausal reproduce`` does."""
    folder.mkdir(parents=True)
    for one in records:
        (folder / f"{one['row']}-seed{one['seed']}.json").write_text(json.dumps(one))


def lines_about(lines, words):
    """Return the rows of the table with these words."""
    return [line for line in lines if words in line]


def test_without_records_there_is_no_section(tmp_path):
    assert claims_section(tmp_path) == []


def test_a_claim_holds_by_the_mean_over_seeds(tmp_path):
    write(
        tmp_path / "paper/fb122",
        *(record("complex", seed, 0.5) for seed in (0, 1)),
        *(record("asr-complex", seed, mrr) for seed, mrr in ((0, 0.4), (1, 0.7))),
    )
    (line,) = lines_about(claims_section(tmp_path), "ComplEx on FB122, all of test")
    assert "0.550, against 0.500" in line
    assert line.endswith("| holds |")


def test_the_last_epoch_and_the_best_can_disagree(tmp_path):
    rows = []
    for share in (20, 30, 40, 50):
        rows += [record(f"complex-{share}", 0, 0.5, last=0.3), record(f"asr-complex-{share}", 0, 0.4, last=0.4)]
    write(tmp_path / "paper/wn18-limited", *rows)
    last, best = lines_about(claims_section(tmp_path), "at every size")
    assert "last epoch" in last
    assert last.endswith("| holds |")
    assert "20%: 0.400, 0.300" in last
    assert "best epoch" in best
    assert best.endswith("| does not hold |")


def test_costs_are_what_clauses_add(tmp_path):
    (tmp_path / "benchmarks").mkdir()
    times = {("none", 0): 1.0, ("closed-form", 38): 1.2, ("closed-form", 47): 3.0, ("gradient", 47): 2.0}
    trainings = [
        {"scorer": "complex", "adversary": adversary, "clauses": clauses, "seconds": seconds}
        for (adversary, clauses), seconds in times.items()
    ]
    (tmp_path / "benchmarks/gpu.json").write_text(json.dumps({"trainings": trainings}))
    few, all_of_them = lines_about(claims_section(tmp_path), "on a GPU")
    assert "0.20 s, against 1.00 s" in few
    assert few.endswith("| holds |")
    assert all_of_them.endswith("| does not hold |")
