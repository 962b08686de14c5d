"""``clausal certify``: verdicts that are true of the model, examples that violate, and exit codes that gate."""

import csv
import io
import itertools

import pytest
import torch
from safetensors.torch import load_file, save_file

import clausal as package
from command_line import clausal, refused
from small_graphs import QUICK, train_options

OBEYED = """\
manages(X, Y) => works_with(X, Y)
works_with(X, Y) => works_with(Y, X)
manages(X, Y), manages(Y, Z) => outranks(X, Z)
"""


def with_relations(run, **parts):
    """Give relations of a run on the cube their real and imaginary parts, the same in every component."""
    tensors = load_file(run / "model.safetensors")
    names = list(package.load(run).graph.relations)
    for name, (real, imaginary) in parts.items():
        half = torch.ones(QUICK["model.dim"] // 2)
        tensors["relations"][names.index(name)] = torch.cat([real * half, imaginary * half])
    save_file(tensors, run / "model.safetensors")
    return run


@pytest.fixture
def obedient(copied):
    """A run whose relations obey every clause wherever entities are in the cube: the chain's body never holds."""
    return with_relations(copied, manages=(-0.5, 0.0), works_with=(0.3, 0.0), outranks=(0.2, 0.0))


@pytest.fixture
def disobedient(copied):
    """A run whose relations break every clause."""
    return with_relations(copied, manages=(0.8, 0.1), works_with=(-0.4, 0.7), outranks=(-0.3, 0.0))


def certified(run, *options):
    result = clausal("certify", run, *options, "--format", "json")
    assert result.code == 0, result.stderr
    return result.json


def brute_force(run, clause):
    """Return the violation of every assignment, by the entities' names, straight from the scores of facts."""
    loaded = package.load(run)
    entities, relations = list(loaded.graph.entities), list(loaded.graph.relations)
    n = torch.arange(len(entities))
    with torch.no_grad():
        score = {
            name: loaded.predictor.score(n[:, None], torch.tensor(relations.index(name)), n[None, :])
            for name in relations
        }
    if "outranks" in clause:
        body = torch.minimum(score["manages"][:, :, None], score["manages"][None, :, :])  # [x, y, z]
        violation = (body - score["outranks"][:, None, :]).clamp_min(0)
    elif "manages" in clause:
        violation = (score["manages"] - score["works_with"]).clamp_min(0)
    else:
        violation = (score["works_with"] - score["works_with"].T).clamp_min(0)
    return entities, violation


def test_relations_that_obey_hold_for_all(obedient):
    result = certified(obedient)
    assert [one["clause"] for one in result["clauses"]] == OBEYED.splitlines()
    for one in result["clauses"]:
        assert one["verdict"] == "holds for all"
        assert 0 <= one["attained"] <= one["bound"] + 1e-9 <= 1e-6
        assert one["entities"]["worst"] == pytest.approx(0, abs=1e-6)
    assert result["verdicts"] == {"holds for all": 3}


def test_relations_that_do_not_are_violated_by_entities_that_do_violate(disobedient):
    for one in certified(disobedient)["clauses"]:
        assert one["verdict"] == "violated"
        entities, violation = brute_force(disobedient, one["clause"])
        found = one["entities"]
        ids = tuple(entities.index(name) for _, name in sorted(found["example"]["entities"].items()))
        assert violation[ids].item() == pytest.approx(found["worst"], abs=1e-5)
        assert found["worst"] == pytest.approx(violation.max().item(), abs=1e-5)
        assert found["example"]["body"] - found["example"]["head"] == pytest.approx(found["worst"], abs=1e-5)
        pairs = violation.amax(1) if violation.dim() == 3 else violation
        assert found["assignments"] == pairs.numel()
        assert found["mean"] == pytest.approx(pairs.mean().item(), abs=1e-5)
        assert found["rate"] == pytest.approx((pairs > 0.01).double().mean().item(), abs=2 / pairs.numel())


def test_the_interval_holds_the_papers_closed_form(disobedient):
    implication, symmetry, chain = certified(disobedient)["clauses"]
    real, imaginary, components = 0.8 + 0.4, 0.1 - 0.7, QUICK["model.dim"] // 2
    largest = components * (max(real, 0) + max(real, abs(imaginary)))
    for one, expected in ((implication, largest), (symmetry, 2 * components * 0.7)):
        assert one["exact"]
        assert one["attained"] == pytest.approx(expected, abs=1e-5)
        assert one["bound"] == pytest.approx(expected, abs=1e-5)
    assert chain["entities"]["worst"] <= chain["bound"] + 1e-5
    assert 0 < chain["attained"] <= chain["bound"]
    assert chain["gap"] == pytest.approx(1 - chain["attained"] / chain["bound"])


def test_an_obeyed_graph_in_a_disobeyed_domain_holds_on_this_graph(disobedient):
    tensors = load_file(disobedient / "model.safetensors")
    tensors["encoder.weight"] *= 0  # every score is 0
    save_file(tensors, disobedient / "model.safetensors")
    assert {one["verdict"] for one in certified(disobedient)["clauses"]} == {"holds on this graph"}
    assert {one["verdict"] for one in certified(disobedient, "--region", "hull")["clauses"]} == {"holds for all"}
    without = certified(disobedient, "--no-entities")["clauses"]
    assert {one["verdict"] for one in without} == {"not for all"}
    assert {one["entities"] for one in without} == {None}


@pytest.mark.parametrize("region", ["hull", "discs", "roles"])
def test_smaller_regions_have_smaller_bounds_that_still_hold(finished, region):
    domain, smaller = certified(finished), certified(finished, "--region", region)
    assert smaller["region"] == region
    for whole, part in zip(domain["clauses"], smaller["clauses"], strict=True):
        assert part["attained"] <= part["bound"] + 1e-9
        if region == "hull":
            assert part["bound"] <= whole["bound"] + 1e-6
        if region != "roles":
            assert part["entities"]["worst"] <= part["bound"] + 1e-5


@pytest.mark.parametrize(
    ("run", "requirement", "code"),
    [
        ("obedient", "all", 0),
        ("obedient", "graph", 0),
        ("obedient", "1", 0),
        ("disobedient", "all", 1),
        ("disobedient", "graph", 1),
        ("disobedient", "0.1", 1),
        ("disobedient", "0", 0),
    ],
)
def test_a_requirement_decides_the_exit_code_and_results_are_printed_all_the_same(run, requirement, code, request):
    result = clausal("certify", request.getfixturevalue(run), "--require", requirement, "--format", "json")
    assert result.code == code
    assert len(result.json["clauses"]) == 3
    if code:
        assert len(result.stderr.splitlines()) == 1
        assert "3 of 3 clauses" in result.stderr
        assert "works_with(X, Y) => works_with(Y, X)" in result.stderr


def test_tolerance_is_a_hundredth_of_the_margin_unless_given(disobedient):
    assert certified(disobedient)["tolerance"] == pytest.approx(0.01)
    assert certified(disobedient, "--tolerance", "100")["verdicts"] == {"holds for all": 3}
    refused(clausal("certify", disobedient, "--tolerance", "-1"), "tolerance", "-1")


def test_clauses_from_a_file_in_place_of_those_of_the_run(disobedient, tmp_path):
    path = tmp_path / "other.txt"
    path.write_text("manages(X, 'person 03') => works_with(X, X)\nmanages(X, Y), works_with(X, Y) => false\n")
    result = certified(disobedient, "--clauses", path)
    constant, constraint = result["clauses"]
    assert set(constant["entities"]["example"]["entities"]) <= {"X"}
    assert constant["entities"]["assignments"] == len(package.load(disobedient).graph.entities)
    assert constraint["entities"]["example"] is None or constraint["entities"]["example"]["body"] is None


def test_thresholds_make_a_rule_that_the_model_obeys(disobedient):
    options = ("--semantics", "threshold", "--thresholds")
    impossible = certified(disobedient, *options, "1000,0")
    assert impossible["thresholds"] == [1000, 0]
    assert impossible["verdicts"] == {"holds for all": 3}
    assert "holds for all" not in certified(disobedient, *options, "0,0")["verdicts"]
    refused(clausal("certify", disobedient, *options, "1"), "--thresholds 1", "two numbers")


def test_semantics_without_bounds_are_unknown_or_refuted_never_certified(disobedient):
    for one in certified(disobedient, "--semantics", "product")["clauses"]:
        assert one["bound"] is None
        assert one["verdict"] not in ("holds for all", "unknown")  # the entities of a graph can still be asked
        assert one["entities"] or "product" in one["unchecked"]


def test_csv_has_the_numbers_of_json(disobedient):
    result = clausal("certify", disobedient, "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(result.stdout)))
    for row, one in zip(rows, certified(disobedient)["clauses"], strict=True):
        assert (row["clause"], row["verdict"]) == (one["clause"], one["verdict"])
        assert float(row["bound"]) == one["bound"]
        assert float(row["worst"]) == one["entities"]["worst"]
        assert "violated by" in row["example"]


def test_the_table_is_narrow_and_names_the_worst_example_below_it(disobedient):
    lines = clausal("certify", disobedient).stdout.splitlines()
    assert max(len(line) for line in itertools.takewhile(lambda line: not line.startswith("  1."), lines[1:])) <= 100
    assert "  2. works_with(X, Y) => works_with(Y, X)" in lines
    assert any(line.startswith("       worst: X = person") for line in lines)


def test_a_run_without_clauses_says_what_to_do(graph_folder, tmp_path):
    options = [word for word in train_options(graph_folder) if word not in ("--clauses", graph_folder / "clauses.txt")]
    assert clausal(*options, "--out", tmp_path / "run").code == 0
    refused(clausal("certify", tmp_path / "run"), "without clauses", "--clauses FILE")
    assert clausal("certify", tmp_path / "run", "--clauses", graph_folder / "clauses.txt").code == 0


def test_unknown_names_and_bad_options_are_refused(finished, tmp_path):
    (tmp_path / "clauses.txt").write_text("managse(X, Y) => works_with(X, Y)\n")
    refused(clausal("certify", finished, "--clauses", tmp_path / "clauses.txt"), "'managse'", "did you mean 'manages'?")
    refused(clausal("certify", finished, "--require", "most"), "--require most", "expected all, graph")
    refused(clausal("certify", tmp_path / "none"), "no such run directory")
    assert clausal("certify", finished, "--region", "everywhere").code == 2


def test_python_gives_what_the_command_prints(finished):
    result = package.load(finished).certify()
    assert result.to_dict() == certified(finished)


@pytest.mark.parametrize("thresholds", ["1e308,1e308", "0,-1e38", "nan,0", "0,inf"])
def test_thresholds_beyond_single_precision_are_refused(finished, thresholds):
    options = ["--semantics", "threshold", "--thresholds", thresholds]
    refused(clausal("certify", finished, *options), "thresholds: numbers from -1e+37 to 1e+37 are allowed; got")
