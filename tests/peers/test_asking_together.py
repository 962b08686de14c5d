"""Runs that several processes ask together, each with a part of the vectors: the answers are those of one process."""

import json
import os
import signal
import time

import pytest
import torch
from test_joining import children, launched

import clausal
from clausal.config import Settings
from clausal.errors import InputError
from clausal.observer import Observer
from clausal.peers import Blocks
from clausal.peers.joining import joined
from command_line import clausal as command
from processes import SECONDS, do_together, received, started

MODELS = {
    "complex": {"scorer": "complex"},
    "transe": {"scorer": "transe", "domain": "sphere"},
    "reciprocal": {"scorer": "distmult", "reciprocal": True, "domain": "none"},
    "ermlp": {"scorer": "er-mlp"},
}


@pytest.fixture(scope="module")
def runs(graph_folder, tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    graph, clauses = clausal.load_graph(graph_folder), clausal.read_clauses(graph_folder / "clauses.txt")
    for name, model in MODELS.items():
        settings = Settings.from_mapping({"model": {"dim": 8, **model}, "train": {"epochs": 3, "device": "cpu"}})
        clausal.train(graph, clauses, settings, out=folder / name, observer=Observer())
    return folder


@pytest.mark.parametrize(("rows", "size"), [(1, 1), (5, 4), (24, 5), (1000, 7)])
def test_blocks_part_the_rows_in_their_order(rows, size):
    ids = torch.arange(rows)
    parts = [Blocks(rows, rank, size) for rank in range(size)]
    assert torch.cat([part.own_ids() for part in parts]).equal(ids)
    for rank, part in enumerate(parts):
        own = part.own_ids()
        assert len(own) == part.count() > 0
        assert part.owners(own).eq(rank).all()
        assert part.places(own).equal(torch.arange(len(own)))
        assert part.homes(own).equal(rank * rows + torch.arange(len(own)))


def asked(peers, path):
    """Ask a run all that several processes can answer."""
    run = clausal.load(path, device="cpu", peers=peers)
    names = list(run.graph.entities)
    questions = [f"works_with({names[0]}, ?)", f"manages(?, {names[5]})", f"?({names[1]}, {names[2]})"]
    questions += [f"manages({names[0]}, {names[1]})", *(f"works_with(?, {name})" for name in names)]
    facts = [(first, "outranks", second) for first, second in zip(names, names[3:], strict=False)]
    found = {
        (k, new, ranking): [[tuple(answer) for answer in some] for some in run.predict(
            questions, k, new=new, ranking=ranking
        )]
        for k in (1, 7, 1000)
        for new in (False, True)
        for ranking in ("model", "entailed")
    }  # fmt: skip
    return {
        "rows": run.predictor.encode_all().shape[0],
        "answers": found,
        "scores": [tuple(fact) for fact in run.score(facts, ranking="entailed")],
        "evaluated": [run.evaluate(ranking=ranking).to_dict() for ranking in ("model", "entailed")],
        "classified": run.classify().to_dict(),
    }


def same(found, expected):
    """Compare what is nested; scores up to rounding, as a row of few is summed in another order than one of many."""
    if isinstance(expected, dict):
        assert found.keys() == expected.keys()
        for key in expected:
            same(found[key], expected[key])
    elif isinstance(expected, list | tuple):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            same(one, other)
    elif isinstance(expected, float):
        assert found == pytest.approx(expected, rel=1e-5, abs=1e-6)
    else:
        assert found == expected


@pytest.mark.parametrize("size", [2, 4])
def test_answers_scores_and_ranks_are_those_of_one_process(runs, size, tmp_path):
    found = do_together(size, tmp_path, {name: (asked, (runs / name,)) for name in MODELS})
    for name, every in found.items():
        expected = asked(clausal.peers.ALONE, runs / name)
        assert sum(one.pop("rows") for one in every) == expected.pop("rows")
        for one in every:
            if name in ("complex", "reciprocal"):  # products are computed one by one, to the same bits
                assert one["answers"] == expected["answers"]
            same(one, expected)


def ask_what_needs_all(peers, path):
    run = clausal.load(path, device="cpu", peers=peers)
    name = run.graph.entities[0]
    asks = {
        "nearest": lambda: run.nearest(name),
        "vectors": run.vectors,
        "complete": run.complete,
        "certify": run.certify,
        "decisions": run.decisions,
        "update": lambda: run.update([(name, "manages", "new")]),
        "fuse": run.fuse,
        "consistent": lambda: run.predict(f"manages({name}, ?)", consistent=True),
        "index": run.build_index,
    }
    messages = {}
    for what, ask in asks.items():
        try:
            ask()
        except InputError as error:
            messages[what] = str(error)
    return messages.keys() == asks.keys() and set(messages.values())


def test_what_needs_all_vectors_is_refused(runs, tmp_path):
    for messages in do_together(2, tmp_path, {"all": (ask_what_needs_all, (runs / "complex",))})["all"]:
        assert len(messages) == 1
        assert "dealt over several processes" in messages.pop()


def ask_forever(path):
    with joined({}, gpu=False, wait=SECONDS, trust_network=False, advice="ask again") as peers:
        run = clausal.load(path, device="cpu", peers=peers)
        (path.parent / f"asking-{peers.rank}").touch()
        while True:
            run.predict(f"manages({run.graph.entities[0]}, ?)")


def test_a_killed_process_ends_the_others_with_a_message(runs, tmp_path):
    with started(ask_forever, 4, tmp_path, runs / "complex") as (processes, pipes):
        until = time.monotonic() + SECONDS
        while len(list(runs.glob("asking-*"))) < 4:
            assert time.monotonic() < until
            time.sleep(0.01)
        os.kill(processes[2].pid, signal.SIGKILL)
        killed = time.monotonic()
        answers = [received(pipe) for rank, pipe in enumerate(pipes) if rank != 2]
        assert time.monotonic() - killed < 30
    for kind, message in answers:
        assert kind == "failed", message
        assert "another process has ended" in message
        assert "; ask again" in message


def by_command(*arguments):
    with launched(*arguments) as job:
        out, errors = job.communicate(timeout=SECONDS)
    assert job.returncode == 0, errors
    return out


def test_commands_in_several_processes_print_and_write_once(runs, tmp_path):
    run, facts = runs / "complex", tmp_path / "facts.tsv"
    graph = clausal.load(run).graph
    facts.write_text("".join(f"{a}\tmanages\t{b}\n" for a, b in zip(graph.entities, graph.entities[1:], strict=False)))
    questions = tmp_path / "questions.txt"
    questions.write_text("".join(f"manages({name}, ?)\n" for name in graph.entities))
    predict = ["predict", run, "--questions", questions, "--format", "json", "--new", "--device", "cpu"]
    several = ["--processes", "2"]
    assert by_command(*predict, "--out", tmp_path / "b.csv", *several) == command(*predict).stdout
    command(*predict, "--out", tmp_path / "a.csv")
    assert (tmp_path / "a.csv").read_text() == (tmp_path / "b.csv").read_text()
    scores = ["score", run, facts, "--device", "cpu"]
    command(*scores, "--out", tmp_path / "c.csv")
    by_command(*scores, "--out", tmp_path / "d.csv", *several)
    assert (tmp_path / "c.csv").read_text() == (tmp_path / "d.csv").read_text()
    evaluate = ["evaluate", run, "--format", "json", "--device", "cpu"]
    same(json.loads(by_command(*evaluate, *several)), command(*evaluate).json)


def test_a_command_says_which_process_was_killed(runs, tmp_path):
    run, questions = runs / "complex", tmp_path / "questions.txt"
    names = clausal.load(run).graph.entities
    questions.write_text("".join(f"manages({name}, ?)\n" for name in names) * 20_000)
    with launched("predict", run, "--questions", questions, "--processes", 2, "--format", "json") as job:
        until = time.monotonic() + SECONDS
        while len(children(job)) < 2:
            assert time.monotonic() < until
            time.sleep(0.05)
        time.sleep(1)
        os.kill(children(job)[1], signal.SIGKILL)
        killed = time.monotonic()
        out, errors = job.communicate(timeout=60)
        assert time.monotonic() - killed < 30
    assert job.returncode == 1
    assert out == ""
    assert "process 1 was killed by signal 9" in errors
    assert "Traceback" not in errors


def test_other_questions_are_refused(runs, tmp_path):
    question = f"manages({clausal.load(runs / 'complex').graph.entities[0]}, ?)"
    with started(_ask_by_command, 2, tmp_path, runs / "complex", question) as (_, pipes):
        for kind, (code, message) in map(received, pipes):
            assert (kind, code) == ("returned", 2)
            assert "but process 0 has" in message
            assert "command" in message


def _ask_by_command(run, question):
    k = str(3 + int(os.environ["RANK"]))
    result = command("predict", run, question, "-k", k, "--device", "cpu")
    return result.code, result.stderr


@pytest.mark.parametrize(
    ("arguments", "option"),
    [
        (["predict", "manages(person 01, ?)", "--consistent"], "--consistent"),
        (["predict", "manages(person 01, ?)", "--explain"], "--explain"),
        (["evaluate", "--consistent"], "--consistent"),
    ],
)
def test_options_that_look_at_all_vectors_are_refused(runs, arguments, option):
    name, *rest = arguments
    with launched(name, runs / "complex", *rest, "--processes", 2) as job:
        _, errors = job.communicate(timeout=SECONDS)
    assert job.returncode == 2
    assert f"{option} works in one process; leave it out, or leave out --processes and torchrun" in errors
