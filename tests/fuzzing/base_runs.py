"""Small runs that are trained once in a process: a finished one with votes and texts, and one that was interrupted."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from clausal import Run, Settings, load, load_graph, parse_clauses, read_clauses, train
from small_graphs import interrupted_run, quick, write_small_graph

RDF = """
@prefix : <http://e/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Madrid :in :Spain . :Paris :in :France . :Spain :in :Europe . :France :in :Europe . :Lisbon :in :Portugal .
:Portugal :in :Europe . :Spain :near :France . :France :near :Spain . :Portugal :near :Spain . :Rome :in :Italy .
:Italy :in :Europe . :Italy :near :France . :Madrid rdfs:label "Madrid"@en , "Madrid, la ville"@fr .
:Paris rdfs:comment "a city" . :Spain rdfs:label "Spain"@en , "España"@es .
"""


@cache
def scratch() -> Path:
    """A folder of this process, which is removed at its end."""
    folder = Path(tempfile.mkdtemp(prefix="fuzz-runs-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


@cache
def graph_folder() -> Path:
    """The graph of the runs, as files."""
    return write_small_graph(scratch() / "company")


@cache
def run_folder(kind: str) -> Path:
    """Return a run directory that is not to be changed: ``finished``, ``described`` or ``unfinished``."""
    path = scratch() / kind
    if kind == "unfinished":
        return interrupted_run(graph_folder(), path)
    if kind == "described":
        (scratch() / "graph.ttl").write_text(RDF, encoding="utf-8")
        graph = load_graph(scratch() / "graph.ttl", valid=0.2, test=0.2)
        clauses = parse_clauses("'http://e/near'(X, Y) => 'http://e/near'(Y, X)")
        settings = Settings.load(assignments=[*quick()[1::2], "descriptions.text=literals"])
        train(graph, clauses, settings, out=path)
        return path
    clauses = read_clauses(graph_folder() / "clauses.txt")
    train(load_graph(graph_folder()), clauses, Settings.load(assignments=quick()[1::2]), out=path).fuse(
        clauses, out=path
    )
    return path


@cache
def run_files(kind: str) -> Mapping[str, bytes]:
    """The content of each file of such a run, by its path inside."""
    folder = run_folder(kind)
    paths = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != "lock")
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


@cache
def loaded(kind: str) -> Run:
    """A run to be asked."""
    return load(run_folder(kind), device="cpu")
