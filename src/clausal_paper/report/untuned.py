"""The section on what no hand has tuned: ``--preset best`` and votes of rules, from the records in results/best."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from clausal_paper.report.records import MISSING, notes, table

_TITLES = {"fb122": "FB122", "wn18": "WN18", "wn18rr": "WN18RR", "fb15k-237": "FB15k-237"}
_TARGETS = {"fb122": (0.763, 0.780), "wn18": (0.950, 0.951), "wn18rr": (0.484, 0.515), "fb15k-237": (0.378, 0.388)}
_RULES_ALONE = {"wn18rr": (0.485, 0.496), "fb15k-237": (0.325, 0.332)}
"""The target of rules alone, and what AnyBURL's own tables have."""
_ABLATIONS = _TITLES | {"umls": "UMLS"}
_SEARCHED = {"umls": "UMLS", "kinships": "Kinship", "nations": "Nations", "fb122": "FB122"}
_COLUMNS = ["", "seeds", "best", "target", "best with clauses", "rules alone", "fused", "target", "fused, signed"]

Record = dict[str, Any]


def untuned_section(folder: Path) -> list[str]:
    """Return the lines of the section; none where there are no records."""
    found = {name: _read(folder / f"{name}.jsonl") for name in _TITLES}
    alone = {name: _rules_alone(folder / f"rules-alone-{name}.json") for name in _RULES_ALONE}
    rows = [_row(name, records) for name, records in found.items() if records]
    if not rows:
        return []
    lines = ["## Without tuning: `--preset best` and votes", "", *notes(folder / "notes.md"), *table(_COLUMNS, rows)]
    measured = [_alone_row(name, record) for name, record in alone.items() if record]
    if measured:
        titles = ["", "test facts", "MRR", "target", "AnyBURL", "Hits@1", "Hits@10", "path rules", "with constants"]
        lines += ["Rules alone, by the maximum, nothing fitted:", ""]
        lines += table([*titles, "processor seconds: mining, ranking"], measured)
    lines += _searches(_read(folder / "thirty-trials.jsonl"))
    for name, title in _ABLATIONS.items():
        lines += _ablation(folder / f"ablation-{name}.json", title)
    return lines


def _rules_alone(path: Path) -> Record:
    """Return the record of ``benchmarks/rules_alone.py``, empty where there is none."""
    record: Record = json.loads(path.read_text(encoding="utf-8"))[0] if path.exists() else {}
    return record


def _alone_row(name: str, record: Record) -> list[str]:
    target, other = _RULES_ALONE[name]
    return [
        *(_TITLES[name], f"{record['facts']:,}", f"{record['mrr']:.4f}", f"{target:.3f}", f"{other:.3f}"),
        *(f"{record['hits@1']:.4f}", f"{record['hits@10']:.4f}", f"{record['paths']:,}", f"{record['constants']:,}"),
        f"{record['mining']['processor']:.0f}, {record['ranking']['processor']:.0f}",
    ]


def _read(path: Path) -> list[Record]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def _row(name: str, records: Sequence[Record]) -> list[str]:
    def of(kind: str, ranking: str | None = None) -> str:
        rows = [record for record in records if record["kind"] == kind]
        values = [row["test"] if ranking is None else row["rankings"][ranking]["mrr"] for row in rows]
        return f"{mean(values):.4f}" if values else MISSING

    seeds = len({record["seed"] for record in records if record["kind"] == "best"})
    best, fused = (f"{target:.3f}" for target in _TARGETS[name])
    return [
        *(_TITLES[name], str(seeds), of("best"), best, of("best with clauses")),
        *(of("fused", "rules"), of("fused", "fused"), fused, of("fused, signed", "fused")),
    ]


def _searches(records: Sequence[Record]) -> list[str]:
    """Return the table of ``benchmarks/thirty_trials.py``: MRR on valid by searches and by best, the same filter."""

    def of(name: str, way: str) -> list[float]:
        return [
            one["valid"] for one in records if (one["graph"], one["way"]) == (name, way) and one["valid"] is not None
        ]

    rows = []
    for name, title in _SEARCHED.items():
        trials, searched, raced = (of(name, way) for way in ("search", "clausal search", "best"))
        if trials and raced:
            search = f"{max(searched):.4f}" if searched else MISSING
            difference = f"{mean(raced) - max(trials + searched):+.4f}"
            rows.append([title, str(len(trials)), f"{max(trials):.4f}", search, f"{mean(raced):.4f}", difference])
    titles = ["", "trials at random", "the best of them", "`clausal search`, 30 trials", "`best`", "difference"]
    return ["MRR on valid, by searches and by `best`:", "", *table(titles, rows)] if rows else []


def _ablation(path: Path, title: str) -> list[str]:
    if not path.exists():
        return []
    records = json.loads(path.read_text(encoding="utf-8"))
    rows = [[record["variant"], f"{record['mrr']:.4f}", f"{record['hits@10']:.4f}"] for record in records]
    return [f"What each part of the votes brings on {title}:", "", *table(["", "MRR", "Hits@10"], rows)]
