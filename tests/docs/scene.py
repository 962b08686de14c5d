"""What the pages take for granted: a folder with a small graph under every name they use, its clauses, and runs."""

import shutil
import sqlite3
from importlib.resources import files
from pathlib import Path

import duckdb
import numpy as np

from clausal.graph import DATASETS
from command_line import clausal

QUICK = ["model.dim=8", "train.epochs=1", "train.passes=1", "facts.batches=2", "clauses.sets=2", "clauses.steps=2"]
"""Settings by which a training takes a moment."""
_TOLD = {"Spain", "Madrid", "Montréal", "Papeete", "Paris", "France", "Portugal"}  # whom pages ask about
_MORE = """\
Victoria parent_of Alice
Victoria parent_of Edward
Alice child_of Victoria
Edward child_of Victoria
Edward parent_of Archie
Victoria married_to Albert
Albert married_to Victoria
http://example.org/a http://example.org/capital_of http://example.org/b
http://example.org/a http://example.org/located_in http://example.org/b
steroid interacts_with hormone
steroid interacts_with enzyme
hormone interacts_with enzyme
"""
_CLAUSES = """\
capital_of(X, Y) => located_in(X, Y)
has_capital(X, Y) => capital_of(Y, X)
borders(X, Y) => borders(Y, X)
parent_of(X, Y) => child_of(Y, X)
located_in(X, Y), located_in(Y, Z) => located_in(X, Z)
"""
_SETTINGS = '[model]\nscorer = "distmult"\n\n[train]\nepochs = 1\n'
_TURTLE = """\
@prefix ex: <http://example.org/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
ex:capital_of rdfs:subPropertyOf ex:located_in .
ex:ahu ex:feeds ex:room . ex:room ex:part_of ex:floor . ex:floor ex:part_of ex:house . ex:fan ex:feeds ex:room .
"""
_GRAPHS = ("GRAPH", "FOLDER", "family", "world", "new-graph")
_FACTS = ("s", "r", "o")


def _facts(split):
    world = files("clausal") / "data" / "world" / f"{split}.tsv"
    every = [tuple(line.split("\t")) for line in world.read_text(encoding="utf-8").splitlines()]
    return [
        fact
        for place, fact in enumerate(every)
        if place % 30 == 0 or fact[1] == "capital_of" or _TOLD & {fact[0], fact[2]}
    ]


def _write(path, facts):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join("\t".join(fact) + "\n" for fact in facts), encoding="utf-8")


def build(folder):
    """Fill a folder; ``CLAUSAL_DATA`` has to name its subfolder ``data``."""
    splits = {split: _facts(split) for split in ("train", "valid", "test")}
    splits["train"] += [tuple(line.split()) for line in _MORE.splitlines()]
    train = splits["train"]
    for name in _GRAPHS:
        for split, facts in splits.items():
            _write(folder / name / f"{split}.tsv", facts)
    for name, dataset in DATASETS.items():
        for file in dataset.files:
            target = folder / "data" / name / file.name
            _write(target, splits[file.name.split("-")[0].split(".")[0]] if file.name.endswith(".txt") else [])
            if file.name.endswith(".pl"):
                target.write_text("located_in(X, Y) :- capital_of(X, Y).\n")
    _write(folder / "facts.tsv", train)
    _write(folder / "more-facts.tsv", splits["valid"])
    _write(folder / "candidates.tsv", splits["valid"])
    _write(
        folder / "labelled.tsv", [(*fact, "1") for fact in splits["valid"]] + [(o, r, s, "0") for s, r, o in train[:20]]
    )
    (folder / "edges.csv").write_text(
        "from,kind,to\n" + "".join(",".join(fact) + "\n" for fact in train if "," not in "".join(fact))
    )
    for name in ("clauses.txt", "other-clauses.txt", "FILE"):
        (folder / name).write_text(_CLAUSES)
    (folder / "clauses.pl").write_text("located_in(X, Y) :- capital_of(X, Y).\n")
    (folder / "settings.toml").write_text(_SETTINGS)
    for name in ("building.ttl", "ontology.ttl"):
        (folder / name).write_text(_TURTLE)
    (folder / "rules.tsv").write_text(
        "Rule\tHead Coverage\tStd Confidence\tPCA Confidence\tPositive Examples\tBody size\tPCA Body size\t"
        "Functional variable\n?a  capital_of  ?b   => ?a  located_in  ?b\t0.1\t1\t1\t12\t12\t12\t?a\n"
    )
    for connection in (duckdb.connect(str(folder / "facts.db")), sqlite3.connect(folder / "facts.sqlite")):
        connection.execute("CREATE TABLE facts (s TEXT, r TEXT, o TEXT)")
        connection.executemany("INSERT INTO facts VALUES (?, ?, ?)", train)
        connection.commit()
        connection.close()
    np.save(folder / "vectors.npy", np.zeros((1, 50), np.float32))
    (folder / "names.txt").write_text("Spain\n")


def train_runs(folder):
    """Train one run, and put it where pages have theirs; one of them has rules that vote."""
    train(folder / "RUN", "GRAPH", "--clauses", "clauses.txt")
    for name in ("OTHER", "runs/world"):
        shutil.copytree(folder / "RUN", folder / name)
    done = clausal("fuse", "RUN", "--mine", "--out", "runs/umls-votes")
    assert done.code == 0, done.stderr


def train(out, *arguments):
    """Train for a moment."""
    done = clausal("train", *arguments, "--out", str(out), *(part for one in QUICK for part in ("--set", one)))
    assert done.code == 0, done.stderr


def fresh(folder, scene):
    """Copy the scene for a page, so that no page finds what another one left."""
    return Path(shutil.copytree(scene, folder))
