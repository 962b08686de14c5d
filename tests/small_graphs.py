"""A graph and clauses that train in a fraction of a second, and runs on them."""

import shutil
from pathlib import Path

import pytest

from clausal import Settings, load_graph, read_clauses, train
from clausal.observer import Observer
from command_line import clausal

CLAUSES = """\
% who manages someone works with them
manages(X, Y) => works_with(X, Y)
works_with(X, Y) => works_with(Y, X)
manages(X, Y), manages(Y, Z) => outranks(X, Z)
"""

QUICK = {
    "model.dim": 8,
    "train.epochs": 4,
    "train.passes": 3,
    "train.checkpoint_seconds": 0,
    "facts.batches": 2,
    "clauses.sets": 2,
    "clauses.steps": 2,
    "evaluate.every": 2,
}


def small_facts():
    """Facts of a company of 24 people, as names."""
    people = [f"person {number:02}" for number in range(24)]
    facts = []
    for index, person in enumerate(people[1:], 1):
        boss = people[index // 2]
        facts += [(boss, "manages", person), (boss, "works_with", person), (person, "works_with", boss)]
        if index // 2:
            facts.append((people[index // 4], "outranks", person))
    return [fact for fact in facts if fact[0] != fact[2]]


def write_facts(path, facts):
    """Write facts as tab-separated text."""
    Path(path).write_text("".join("\t".join(fact) + "\n" for fact in facts), encoding="utf-8")


def write_small_graph(folder, facts=None):
    """Write train, valid, test and test-I into a folder, and clauses; return the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    facts = facts or small_facts()
    held = [fact for index, fact in enumerate(facts) if index % 7 == 3]
    write_facts(folder / "train.tsv", [fact for fact in facts if fact not in held])
    write_facts(folder / "valid.tsv", held[::2])
    write_facts(folder / "test.tsv", held[1::2])
    write_facts(folder / "test-I.tsv", held[1::4])
    (folder / "clauses.txt").write_text(CLAUSES, encoding="utf-8")
    return folder


def quick(**changes):
    """Return ``--set`` options for a training of a moment; ``model__dim=4`` changes ``model.dim``."""
    settings = QUICK | {key.replace("__", "."): value for key, value in changes.items()}
    return [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]


def train_options(graph, **changes):
    """Return the arguments of ``clausal train`` on a small graph with its clauses."""
    return ["train", graph, "--clauses", graph / "clauses.txt", *quick(**changes)]


@pytest.fixture(scope="session")
def graph_folder(tmp_path_factory):
    """The small graph as a folder; not to be changed."""
    return write_small_graph(tmp_path_factory.mktemp("graphs") / "company")


@pytest.fixture(scope="session")
def finished(graph_folder, tmp_path_factory):
    """A finished run on the small graph; not to be changed."""
    run = tmp_path_factory.mktemp("runs") / "finished"
    assert clausal(*train_options(graph_folder), "--out", run).code == 0
    return run


@pytest.fixture
def copied(finished, tmp_path):
    """A finished run of the test's own."""
    return shutil.copytree(finished, tmp_path / "run")


def interrupted_run(graph_folder, out, after=5, **changes):
    """Train until Ctrl-C after some passes, which leaves an unfinished run with a checkpoint."""

    class Interrupt(Observer):
        passes = 0

        def passed(self, report):
            self.passes += 1
            if self.passes > after:
                raise KeyboardInterrupt

    settings = Settings.load(assignments=quick(**changes)[1::2])
    with pytest.raises(KeyboardInterrupt):
        train(
            load_graph(graph_folder),
            read_clauses(graph_folder / "clauses.txt"),
            settings,
            out=out,
            observer=Interrupt(),
        )
    return out


@pytest.fixture
def unfinished(graph_folder, tmp_path):
    """A run that was interrupted in the second epoch, between two passes."""
    return interrupted_run(graph_folder, tmp_path / "unfinished")
