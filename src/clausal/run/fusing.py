"""Runs with votes: the fusion is made, written into a new run directory, read again and asked for reasons."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from clausal.errors import InputError, count
from clausal.files import atomic_folder, check_new_folder
from clausal.fusion import FusedExplanation, Fusion, contributions, fuse, joined_rules, mine_rules, rules_of_clauses
from clausal.graph.graph import Graph
from clausal.graph.query import Fact, fact_ids, parse_query
from clausal.logic.mining import Edges
from clausal.logic.printer import print_clause
from clausal.logic.syntax import Clause
from clausal.observer import Observer
from clausal.run.directory import copy_finished
from clausal.run.fusion_files import read_fusion, write_fusion
from clausal.run.prediction import Answer

if TYPE_CHECKING:
    from clausal.fusion.ranker import Fused
    from clausal.run.run import Run

_SHOWN = 3


def fuse_run(
    run: Run,
    clauses: Sequence[Clause] | None,
    *,
    mine: bool,
    signed: bool,
    seconds: float | None,
    out: str | Path | None,
    observer: Observer | None,
) -> Run:
    """Return a run with a fusion of its model and the votes of rules."""
    if clauses is None and not mine:
        raise InputError("no rules to vote: give clauses, or mine=True")
    if out is not None:
        _check_out(run, Path(out))
    observer, graph = observer or Observer(), run.graph
    parts = []
    if clauses is not None:
        given = rules_of_clauses(clauses, graph, Edges(graph.train, len(graph.entities), len(graph.relations)))
        for reason, number in Counter(reason for _, reason in given.left_out).items():
            examples = [print_clause(clause, graph.display) for clause, why in given.left_out if why == reason]
            shown = "; ".join(examples[:_SHOWN]) + ("; …" if number > _SHOWN else "")
            observer.message(f"{count(number, 'clause')} cannot vote: {reason}: {shown}")
        parts.append(given.rules)
    if mine:
        parts.append(mine_rules(graph, seconds=seconds, observer=observer))
    rules = joined_rules(parts) if len(parts) > 1 else parts[0]
    predictor, seed = run.predictor.with_table(), run.settings.train.seed
    fusion = fuse(predictor, graph, rules, signed=signed, seed=seed, observer=observer)
    if out is None:
        return replace(run, fused=fusion)
    write_fused(run, Path(out), fusion)
    return replace(run, fused=fusion, path=Path(out))


def _check_out(run: Run, out: Path) -> None:
    """Refuse a place for a fusion before long work."""
    if run.path is None:
        raise InputError("the run was trained without a directory, so none can be made of it: train with out=…")
    if out != run.path:
        check_new_folder(out, "choose another --out")
    elif run.is_fused:
        raise InputError(f"{out}: the run has votes already; choose another --out")


def write_fused(run: Run, out: Path, fusion: Fusion) -> None:
    """Write a fusion into its own run directory, or into a new one with the files of the run."""
    assert run.path is not None
    if out == run.path:
        write_fusion(out, fusion, run.graph)
        return
    with atomic_folder(out) as folder:
        copy_finished(run.path, folder)
        write_fusion(folder, fusion, run.graph)


def read_fusion_of(run: Run) -> Fusion:
    """Read the fusion of a run from its directory."""
    if run.path is None:
        raise InputError("the run has no votes; make some: run.fuse()")
    return read_fusion(run.path, run.graph)


def explain_votes(ranker: Fused, graph: Graph, query: str, answers: Sequence[Answer]) -> list[FusedExplanation]:
    """Explain the fused scores of answers to a query.

    A question for a subject or for an object has one side; the score of a whole fact is the mean of its two sides'.
    """
    asked = parse_query(query, graph)
    relations = len(graph.relations)
    found = []
    for answer in answers:
        fact = Fact(answer.subject, answer.relation, answer.object)
        subject, relation, object = fact_ids(fact, graph)
        as_object, as_subject = (subject, relation, object), (object, relation + relations, subject)
        if asked.subject is None:
            sides = [as_subject]
        elif asked.object is None:
            sides = [as_object]
        else:
            sides = [as_object, as_subject]
        parts = [part for side in sides for part in contributions(ranker, graph, *side, share=1 / len(sides))]
        parts.sort(key=lambda part: -abs(part.value))
        found.append(FusedExplanation(answer.rank, fact, answer.score, tuple(parts)))
    return found
