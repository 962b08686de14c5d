"""The section on the paper's claims: figures from records, and whether a claim holds by them."""

import json

from clausal_paper.report.claims import claims_section
from clausal_paper.report.robustness import robustness_section


def record(row, seed, best, last=None):
    """Return what a claim reads of a record."""
    parts = ("test", "test-I", "test-II")
    measured = {"metrics": {"full": {"realistic": {part: {"mrr": best} for part in parts}}}}
    if last is not None:
        measured["last"] = {"full": {"realistic": {part: {"mrr": last} for part in parts}}}
    return {"row": row, "seed": seed, "settings": {}, "best_epoch": 90, **measured}


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


def test_a_claim_holds_by_the_mean_over_seeds_for_all_models(tmp_path):
    rows = [record(row, seed, 0.5) for row in ("complex", "distmult") for seed in (0, 1)]
    rows += [record("asr-complex", seed, mrr) for seed, mrr in ((0, 0.4), (1, 0.7))]
    write(tmp_path / "paper/fb122", *rows, record("asr-distmult", 0, 0.6), record("casr-complex", 0, 0.6))
    (line,) = lines_about(claims_section(tmp_path), "| ASR improves its base on FB122, all of test")
    assert line.endswith("| – | – | ComplEx 0.550 (0.500), DistMult 0.600 (0.500) | holds | `reproduce fb122` |")
    assert not lines_about(claims_section(tmp_path), "| cASR improves")  # one of its models was not trained


def test_the_last_epoch_and_the_best_can_disagree(tmp_path):
    rows = []
    for share in (20, 30, 40, 50):
        rows += [record(f"complex-{share}", 0, 0.5, last=0.3), record(f"asr-complex-{share}", 0, 0.4, last=0.4)]
    write(tmp_path / "paper/wn18-limited", *rows)
    (line,) = lines_about(claims_section(tmp_path), "at every size")
    last, best = line.split("20% ")[1:]
    assert last.startswith("0.400 (0.300)")
    assert "| holds |" in last
    assert best.startswith("0.400 (0.500)")
    assert "| does not hold |" in best


def test_the_relative_gain_is_compared_with_the_larger_one_of_kale(tmp_path):
    figures = {"transe": 0.5, "kale-pre": 0.54, "kale-joint": 0.56, "complex": 0.5, "distmult": 0.5}
    figures |= {"asr-complex": 0.6, "asr-distmult": 0.555}
    write(tmp_path / "paper/fb122", *(record(row, 0, mrr) for row, mrr in figures.items()))
    (line,) = lines_about(claims_section(tmp_path), "relative gain")
    assert "ASR-ComplEx 20.0 %, ASR-DistMult 11.0 % (KALE-Pre 8.0 %, KALE-Joint 12.0 %) | does not hold" in line


def certified(row, seed, margin, bound, rate):
    """Return what the section on robustness reads of a record; clauses of two atoms have twice the figures."""
    clauses = [
        {"clause": clause, "bound": times * bound, "entities": {"mean": times * bound / 10, "rate": times * rate}}
        for times, clause in ((1, "p(X, Y) => q(X, Y)"), (2, "p(X, Y), q(Y, Z) => r(X, Z)"))
    ]
    made = {"hardware": "an abacus", "versions": {"torch": "2.99"}, "date": "2026-01-01", "clauses": clauses}
    return {"row": row, "seed": seed, "trained_with": 47, "settings": {"facts": {"margin": margin}}} | made


def test_robustness_is_compared_in_margins_and_by_kind_of_clause(tmp_path):
    records = [certified("complex", 0, 10.0, 30.0, 0.2), certified("complex", 1, 10.0, 50.0, 0.4)]
    write(tmp_path / "paper/certify", *records, certified("asr-complex", 0, 1.0, 2.0, 0.1))
    one, two = lines_about(claims_section(tmp_path), "more robust")
    assert "mean bound 2.00 margins (4.00), broken by 10.00 % of assignments of entities (30.00 %) | holds" in one
    assert "mean bound 4.00 margins (8.00), broken by 20.00 % of assignments of entities (60.00 %) | holds" in two
    lines = robustness_section(tmp_path / "paper/certify")
    assert "| ComplEx | 47 | 10 | 4.00 | 30.00 % | 0.4000 | 8.00 | 60.00 % | 0.8000 | 2 |" in lines
    assert "| ASR-ComplEx | 47 | 1 | 2.00 | 10.00 % | 0.2000 | 4.00 | 20.00 % | 0.4000 | 1 |" in lines


def test_costs_are_what_clauses_add(tmp_path):
    (tmp_path / "benchmarks").mkdir()
    times = {("none", 0): 1.0, ("closed-form", 38): 1.2, ("closed-form", 47): 3.0, ("gradient", 47): 2.0}
    trainings = [
        {"scorer": "complex", "adversary": adversary, "clauses": clauses, "seconds": seconds}
        for (adversary, clauses), seconds in times.items()
    ]
    (tmp_path / "benchmarks/gpu.json").write_text(json.dumps({"trainings": trainings}))
    few, all_of_them = lines_about(claims_section(tmp_path), "on a GPU")
    assert "on the cube: 0.20 s, against 1.00 s" in few
    assert "| holds |" in few
    assert "| does not hold |" in all_of_them
    trainings += [
        one | {"domain": "sphere"} for one in trainings if one["clauses"] != 47 or one["adversary"] != "closed-form"
    ]
    (tmp_path / "benchmarks/gpu.json").write_text(json.dumps({"trainings": trainings}))
    assert "on the sphere: 0.20 s, against 1.00 s" in lines_about(claims_section(tmp_path), "on a GPU")[-1]
