"""The section on unseen entities: WN18RR split by entities, from the records in results/inductive."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from clausal_paper.report.records import MISSING, notes, table

_METHODS = {
    "facts": "nothing",
    "n-grams": "n-grams of its text",
    "sentences": "a sentence embedding of its text",
    "both": "both of them",
}
_FOLDED = {
    "fold-in": "k of its facts, folded in",
    "refined": "k of its facts, as an update does",
    "refined together": "k of its facts, folded in and refined with its neighbours",
}
_PARTS = {"all": "test", "test-unseen-seen": "unseen–seen", "test-unseen-unseen": "unseen–unseen"}
_METRICS = ("mrr", "hits@1", "hits@3", "hits@10")
_HEADS = ["MRR", "Hits@1", "Hits@3", "Hits@10"]
_GIVEN = ("k = 1", "k = 3", "k = 10")

Record = dict[str, Any]


def unseen_section(folder: Path) -> list[str]:
    """Return the lines of the section; none where there are no records."""
    path = folder / "wn18rr.jsonl"
    records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []
    if not records:
        return []
    rows = [
        [known, _clauses(clauses), part, *_cells(records, method, "test", key, clauses=clauses)]
        for method, known in _METHODS.items()
        for clauses in (False, True)
        for key, part in _PARTS.items()
        if _chosen(records, method, "test", clauses=clauses)
    ]
    lines = ["## Unseen entities", "", *notes(folder / "notes.md")]
    lines += table(["an unseen entity is known by", "clauses", "facts", *_HEADS, "trainings"], rows)
    return lines + _folded(records)


def _folded(records: Sequence[Record]) -> list[str]:
    """Return the table of folding in, each on the facts of entities that have more than the given ones."""
    known: list[tuple[str, str | None, str]] = [("facts", how, name) for how, name in _FOLDED.items()]
    known += [(method, None, name) for method, name in _METHODS.items() if method != "facts"]
    rows = [
        [given, name, _clauses(clauses), *_cells(records, method, given, "all", clauses=clauses, how=how)]
        for given in _GIVEN
        for method, how, name in known
        for clauses in (False, True)
        if _chosen(records, method, given, clauses=clauses, how=how)
    ]
    if not rows:
        return []
    about = "On facts of entities that have more than k with entities of train, without the k that are given:"
    return [about, "", *table(["", "an unseen entity is known by", "clauses", *_HEADS, "trainings"], rows)]


def _clauses(clauses: bool) -> str:
    return "with" if clauses else "without"


def _chosen(
    records: Sequence[Record], method: str, facts: str, *, clauses: bool, how: str | None = None
) -> list[Record]:
    key = {"method": method, "clauses": clauses, "facts": facts}
    return [record for record in records if key.items() <= record.items() and record.get("how") == how]


def _cells(
    records: Sequence[Record], method: str, facts: str, part: str, *, clauses: bool, how: str | None = None
) -> list[str]:
    found = [record for record in _chosen(records, method, facts, clauses=clauses, how=how) if part in record]
    if not found:
        return [MISSING] * (len(_METRICS) + 1)
    return [*(f"{mean(record[part][name] for record in found):.3f}" for name in _METRICS), str(len(found))]
