"""The sections for tables beyond the paper: what the best models reach, what others publish, and targets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from clausal_paper.report.records import MISSING, chosen_settings, made_on, notes, read_records, table
from clausal_paper.tables.clauses import DEDUCIBLE
from clausal_paper.tables.comparison import Size, System, sizes_of, systems_of
from clausal_paper.tables.published import (
    DEDUCIBLE_TARGET,
    PARTS,
    PUBLISHED,
    SECONDS_TARGET,
    TARGETS,
    Published,
)
from clausal_paper.tables.rows import BEYOND_TABLES
from clausal_paper.tables.run import Record

_TITLES = {
    "fb122": "FB122",
    "wn18": "WN18",
    "wn18rr": "WN18RR",
    "fb15k-237": "FB15k-237",
    "wn18-limited": "WN18 with limited training data",
}
_PARTS = {"test-I": "Test-I", "test-II": "Test-II", "test": "all"}
_BEYOND = """\
## Beyond the paper

ComplEx trained against all entities, with reciprocal relations and the N3 regulariser, without clauses and with them
([how](how-to/the-best-model.md)). MRR and Hits are filtered, with the full filter and realistic ties: the mean over
seeds ± the standard deviation between them. *+ entailment* is the model above it with the facts that follow from train
by confident clauses ranked first. Targets are for the mean. Published figures are as their authors give them.
"""


def beyond_section(folder: Path) -> list[str]:
    """Return the lines of the section, with a table for each benchmark that has records; nothing where none has."""
    lines = [line for name in BEYOND_TABLES for line in _benchmark(name, folder / name)]
    return [_BEYOND, *lines] if lines else []


def _benchmark(name: str, folder: Path) -> list[str]:
    records = read_records(folder)
    if not records:
        return []
    systems = systems_of(BEYOND_TABLES[name], records)
    body = _limited(sizes_of(systems)) if name == "wn18-limited" else _whole(name, systems)
    return [
        f"### {_TITLES[name]}",
        "",
        *body,
        f"{_settings(systems)} {_cost(records)}Trained on {made_on(records)}.",
        "",
        "```console",
        f"clausal reproduce beyond {name}",
        "```",
        "",
        *notes(folder / "notes.md"),
    ]


def _whole(name: str, systems: Sequence[System]) -> list[str]:
    """Return the table of a benchmark: our systems, then what others publish, then the target."""
    parts = [part for part in PARTS if any(system.cell(part, "mrr").ours for system in systems)]
    head = [
        "",
        *(f"MRR {_PARTS[part]}" for part in parts),
        "Hits@1",
        "Hits@10",
        "clauses",
        "seconds",
        "seeds",
        "target",
    ]
    body = [_ours(system, parts) for system in systems]
    body += [_published(found, parts) for found in PUBLISHED[name]]
    least = [f"≥ {TARGETS[name][part]:.3f}" if part in TARGETS[name] else MISSING for part in parts]
    return table(head, [*body, ["*target*", *least, *[MISSING] * 6]])


def _ours(system: System, parts: Sequence[str]) -> list[str]:
    mrr = [system.cell(part, "mrr").measured for part in parts]
    hits = [system.cell("test", metric).measured for metric in ("hits@1", "hits@10")]
    trained = [MISSING, MISSING, MISSING]
    if not system.entailed:
        trained = [str(system.records[0]["clauses"]), f"{system.seconds:.0f}", str(len(system.records))]
    return [system.title, *mrr, *hits, *trained, _verdict(system)]


def _verdict(system: System) -> str:
    short = system.short_of_target()
    return "missed by " + ", ".join(f"{by:.4f} ({_PARTS[part]})" for part, by in short.items()) if short else "met"


def _published(found: Published, parts: Sequence[str]) -> list[str]:
    mrr = [f"{found.mrr[part]:.3f}" if part in found.mrr else MISSING for part in parts]
    hits = MISSING if found.hits10 is None else f"{found.hits10:.1f}"
    return [f"*{found.title}*", *mrr, MISSING, hits, *[MISSING] * 4]


def _limited(sizes: Sequence[Size]) -> list[str]:
    """Return the tables of limited data by both filters: all of test, and the test facts that follow from train."""
    whole = [replace(size, filter="whole") for size in sizes]
    gains = ["facts kept", "no clauses", "clauses", "gain", "+ entailment", "deduction alone", "share of it", "seeds"]
    deduced = ["facts kept", "share of test", "no clauses", "clauses", "+ entailment", "target"]
    return [
        "MRR of all of test. *Deduction alone* is the ceiling that the clauses set: what follows from train is ranked",
        "first, and all else is tied. A model passes it by learning what does not follow.",
        "",
        *table(gains, map(_gains, sizes)),
        "The same with a filter that knows the facts that were taken away: they are true, though train lacks them.",
        "",
        *table(gains, map(_gains, whole)),
        "MRR of the test facts that follow from what is left of train. The target is at least",
        f"{DEDUCIBLE_TARGET:.2f} with clauses, and a gain on all of test. By the first filter not even deduction alone",
        "reaches it: what follows, and was taken away, stands beside the fact that is asked for.",
        "",
        *table(deduced, map(_deduced, sizes)),
        "The same with the filter that knows the facts that were taken away:",
        "",
        *table(deduced, map(_deduced, whole)),
    ]


def _gains(size: Size) -> Sequence[str]:
    mrr = [size.mrr(system).measured for system in (size.base, size.with_clauses)]
    entailed, ceiling = size.mrr(size.entailed).measured, size.ceiling.measured
    seeds = str(len(size.base.records))
    return [f"{size.share:.0%}", *mrr, size.gain.measured, entailed, ceiling, f"{size.share_of_ceiling:.1%}", seeds]


def _deduced(size: Size) -> Sequence[str]:
    mrr = [size.mrr(system, DEDUCIBLE).measured for system in (size.base, size.with_clauses, size.entailed)]
    missed = size.missed()
    verdict = f"missed: {' and '.join(missed)}" if missed else "met"
    return [f"{size.share:.0%}", f"{size.deducible_share:.1%}", *mrr, verdict]


def _settings(systems: Sequence[System]) -> str:
    """Name the preset, what it says, and the settings of rows that have clauses in another way."""
    last = systems[-1]
    others = [system for system in systems if not system.entailed and system.row.uses != "none" and system.row.changes]
    said = [f"Preset `{last.row.preset}`: {chosen_settings(last.records[0])}."]
    return " ".join(said + [f"{system.row.title}: {chosen_settings(system.records[0])}." for system in others])


def _cost(records: Sequence[Record]) -> str:
    """Say whether every training was as short as it should be, where all are of the machine that this was said of."""
    if not all("H200" in record["hardware"] for record in records):
        return ""
    longest = max(float(record["seconds"]) for record in records)
    verdict = "met" if longest <= SECONDS_TARGET else "missed"
    return f"The longest training took {longest:.0f} s, of {SECONDS_TARGET:.0f} at most: {verdict}. "
