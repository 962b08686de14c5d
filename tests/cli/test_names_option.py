"""Names of an RDF graph on the command line: short, by label and whole, at 80 and 120 columns and piped."""

import csv
import fcntl
import gzip
import io
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import time
from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq
import pyoxigraph
import pytest

import clausal as package
from clausal.cli.fitting import fitted_lines, shortened_names
from clausal.cli.progress import Bars
from clausal.graph import Graph
from command_line import clausal, refused

BRICK, BUILDING = "https://brickschema.org/schema/Brick#", "https://brickschema.org/schema/1.0.2/building_example#"
LABEL = "http://www.w3.org/2000/01/rdf-schema#label"


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    facts = []
    for unit in range(3):
        ahu = f"{BUILDING}ahu_A{unit}"
        for box in range(4):
            vav = f"{BUILDING}variable_air_volume_box_{unit}{box}"
            facts += [(ahu, f"{BRICK}feeds", vav), (vav, f"{BRICK}isFedBy", ahu)]
            facts += [(vav, f"{BRICK}feeds", f"{BUILDING}hvac_zone_R{unit}{box}")]
    graph = Graph.from_triples(facts)
    rows = [(name, LABEL, name.partition("#")[2].replace("_", " "), "en", "") for name in graph.entities]
    fields = ("subject", "property", "value", "language", "datatype")
    literals = pa.table(dict(zip(fields, map(list, zip(*rows, strict=True)), strict=True)))
    graph = replace(graph, prefixes={"bldg": BUILDING}, literals=literals)
    feeds = f"'{BRICK}feeds'"
    clauses = package.parse_clauses(
        f"{feeds}(X, Y) => '{BRICK}isFedBy'(Y, X)\n{feeds}(X, Y), {feeds}(Y, Z) => {feeds}(X, Z) <0.3713>"
    )
    settings = package.Settings.from_mapping({"model": {"dim": 8}, "train": {"epochs": 1, "passes": 2}})
    path = tmp_path_factory.mktemp("rdf") / "run"
    package.train(graph, clauses, settings, out=path)
    return path


def in_terminal(width, *arguments):
    """Run a command in a pseudo-terminal of this width; return its lines without colours."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 50, width, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
    environment |= {"TERM": "xterm", "OMP_NUM_THREADS": "1", "LC_ALL": "C.UTF-8"}
    command = [sys.executable, "-m", "clausal", *map(str, arguments)]
    process = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, env=environment)
    os.close(slave)
    output = b""
    try:
        while block := os.read(master, 65536):
            output += block
    except OSError:  # the other end is closed
        pass
    os.close(master)
    assert process.wait(120) == 0, output
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", output.decode()).replace("\r", "").splitlines()


@pytest.mark.parametrize("width", [80, 120])
def test_answers_and_explanations_fit_a_terminal(width, run):
    question = ["predict", run, "feeds(ahu_A1, ?)", "-k", "20", "--new", "--explain"]
    lines = in_terminal(width, *question)
    assert max(map(len, lines)) <= width
    answers = [line for line in lines if re.match(r"│ *\d+ *│", line)]
    assert len(answers) == 20  # one line each
    assert any("bldg:hvac_zone_R10" in line and "by a rule of confidence 0.37" in line for line in answers)
    assert any("by a rule of confidence 0.37: brick:feeds(X, Y)" in line for line in lines)
    assert not any("http" in line for line in lines)


def test_whole_names_fit_where_they_are_broken_and_nothing_is_lost(run):
    lines = in_terminal(80, "predict", run, "feeds(ahu_A1, ?)", "-k", "2", "--names", "full")
    assert max(map(len, lines)) <= 80
    assert "…" not in "".join(lines)


def test_piped_output_is_never_shortened_and_programs_get_full_names(run):
    printed = clausal("predict", run, "brick:feeds(bldg:ahu_A1, ?)", "-k", "30", "--names", "full")
    assert f"{BUILDING}variable_air_volume_box_10 " in printed.stdout
    assert "…" not in printed.stdout
    by_label = clausal("predict", run, "feeds('AHU a1', ?)", "-k", "30", "--names", "label").stdout
    assert "│ variable air volume box 10 │" in by_label
    answers = clausal("predict", run, "feeds(ahu_A1, ?)", "--names", "label", "--format", "json").json
    assert all(answer["object"].startswith("http") for answer in answers)


def test_every_command_shows_short_names(run, tmp_path):
    certified = clausal("certify", run).stdout
    assert "1. brick:feeds(X, Y) => brick:isFedBy(Y, X)" in certified
    assert "http" not in certified
    assert "brick:feeds" in clausal("evaluate", run, "--split", "train", "--relations").stdout
    (tmp_path / "rules.txt").write_text("feeds(X, Y) => isFedBy(Y, X)\n")
    other = ["--clauses", tmp_path / "rules.txt"]
    assert "brick:feeds(X, Y)" in clausal("certify", run, *other).stdout
    wrong = clausal("predict", run, "feeds(ahu_A, ?)")
    refused(wrong, "unknown entity 'ahu_A'", "did you mean")


def test_a_rule_with_exceptions_entails_nothing(run):
    options = ["-k", "40", "--ranking", "entailed", "--format", "json"]
    by_name = {a["object"].partition("#")[2]: a for a in clausal("predict", run, "feeds(ahu_A1, ?)", *options).json}
    zone, other = by_name["hvac_zone_R10"], by_name["hvac_zone_R00"]
    assert (zone["verdict"], zone["confidence"]) == ("by a rule", 0.3713)
    assert (other["verdict"], other["confidence"]) == ("predicted", None)
    assert by_name["variable_air_volume_box_10"]["verdict"] == "known"
    (fact,) = clausal("predict", run, "isFedBy(variable_air_volume_box_10, ahu_A1)", *options).json
    assert fact["verdict"] in ("known", "entailed")


def test_a_certain_proof_comes_before_a_shorter_one():
    graph = Graph.from_triples([("a", "p", "b"), ("a", "q", "a"), ("x", "r", "y"), ("x", "s", "y")])
    rules = package.parse_clauses(
        "p(X, Y) => r(X, Y) <0.5>\np(X, Y) => s(X, Y)\ns(X, Y) => r(X, Y)\nq(X, Y) => s(X, Y) <0.5>"
    )
    from clausal.graph.query import Fact
    from clausal.logic.closure import close
    from clausal.logic.proofs import Prover

    prover = Prover(graph, rules, close(graph, rules))
    sure, unsure = prover.prove(Fact("a", "r", "b")), prover.prove(Fact("a", "r", "a"))
    assert (sure.certainty, sure.size) == (1, 2)
    assert unsure.certainty == 0.5


@pytest.mark.parametrize("ending", ["nt", "ttl", "csv", "tsv", "jsonl", "parquet"])
@pytest.mark.parametrize("star", [False, True])
def test_answers_are_written(ending, star, run, tmp_path):
    path = tmp_path / f"answers.{ending}"
    options = ["--out", path, *(["--rdf-star"] if star else []), "--format", "json", "-k", "3"]
    result = clausal("predict", run, "feeds(ahu_A1, ?)", *options)
    if star and ending not in ("nt", "ttl"):
        refused(result, "--rdf-star is for .nt and .ttl")
        return
    objects = [answer["object"] for answer in result.json]
    if ending in ("nt", "ttl"):
        found = list(pyoxigraph.parse(path=path))
        terms = [one.object for one in found if str(one.predicate).endswith(("#object>", "reifies>"))]
        assert [(one.object if star else one).value for one in terms] == objects
    elif ending == "parquet":
        assert pq.read_table(path)["object"].to_pylist() == objects
    elif ending == "jsonl":
        assert [json.loads(line)["object"] for line in path.read_text().splitlines()] == objects
    else:
        rows = csv.DictReader(io.StringIO(path.read_text()), delimiter="," if ending == "csv" else "\t")
        assert [row["object"] for row in rows] == objects


def test_impossible_endings_are_refused_before_the_work(run, tmp_path, monkeypatch):
    refused(clausal("predict", "no-such-run", "p(a, ?)", "--out", tmp_path / "x.xlsx"), "answers are written as .csv")
    monkeypatch.setattr("clausal.logic.close", None)
    (tmp_path / "facts.tsv").write_text("a\tp\tb\n")
    (tmp_path / "rules.txt").write_text("p(X, Y) => p(Y, X)\n")
    arguments = ["closure", tmp_path / "facts.tsv", "--clauses", tmp_path / "rules.txt"]
    refused(clausal(*arguments, "--out", tmp_path / "x.rdf"), "not '.rdf'")
    refused(clausal(*arguments, "--out", tmp_path / "x.nt", "--base-iri", "no iri"), "--base-iri")


@pytest.mark.parametrize("name", ["closed.nt", "closed.ttl", "closed.nt.gz"])
def test_a_closure_is_written_as_rdf(name, tmp_path):
    (tmp_path / "facts.tsv").write_text("Zoë B\tknows\thttp://x.org/y\n", encoding="utf-8")
    (tmp_path / "rules.txt").write_text("knows(X, Y) => knows(Y, X)\n")
    out = tmp_path / name
    result = clausal("closure", tmp_path / "facts.tsv", "--clauses", tmp_path / "rules.txt", "--out", out)
    assert "2 facts written" in result.stderr
    content = gzip.decompress(out.read_bytes()) if name.endswith("gz") else out.read_bytes()
    found = {str(one) for one in pyoxigraph.parse(content, format=pyoxigraph.RdfFormat.TURTLE)}
    zoe, knows = "<urn:clausal:name:Zo%C3%AB%20B>", "<urn:clausal:name:knows>"
    assert {one.removesuffix(" .") for one in found} == {
        f"{zoe} {knows} <http://x.org/y>",
        f"<http://x.org/y> {knows} {zoe}",
    }


def test_a_wrong_choice_is_said_in_plain_words():
    result = clausal("predict", "run", "p(a, ?)", "--format", "html")
    assert result.code == 2
    assert "Value error" not in result.stderr
    assert "'html' is not one of" in " ".join(result.stderr.split())


def test_silence_is_broken_where_output_is_piped(monkeypatch, capsys):
    monkeypatch.setattr(Bars, "INTERVAL", 0.1)
    with Bars(doing="mining") as bars:
        time.sleep(0.35)
        bars.advanced("counting", 3, 10, "rules")
        time.sleep(0.25)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("mining, ")
    assert lines[-1].startswith("counting: 3 of 10 rules, ")
    before = len(lines)
    time.sleep(0.2)
    assert not capsys.readouterr().err
    assert before >= 3


def test_shortened_names_stay_different():
    names = [f"https://example.org/{'x' * 50}{middle}{'y' * 50}#end" for middle in ("a", "b")]
    assert shortened_names(names, 20) == names  # they differ in the middle alone
    others = [f"https://example.org/long/long/long#{n}" for n in range(20)]
    short = shortened_names(others, 15)
    assert len(set(short)) == 20
    assert all(len(one) <= 15 and "…" in one for one in short)
    assert all(len(line) <= 60 for line in fitted_lines(f"   ├─ p({others[0]}, {others[1]})  by q(X, Y)", 60))
