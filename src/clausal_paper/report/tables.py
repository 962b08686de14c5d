"""The sections for tables of link prediction: the paper's, cell by cell, and those beyond it with their targets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from clausal_paper.report.records import MISSING, chosen_settings, made_on, notes, read_records, table
from clausal_paper.tables.clauses import DEDUCIBLE
from clausal_paper.tables.comparison import Comparison, Key, Size, System, compare, sizes_of, systems_of
from clausal_paper.tables.published import (
    DEDUCIBLE_TARGET,
    METRICS,
    PARTS,
    PUBLISHED,
    SECONDS_TARGET,
    TARGETS,
    Published,
)
from clausal_paper.tables.rows import BEYOND_TABLES, PAPER_TABLES, PaperRow
from clausal_paper.tables.run import Record

_TITLES = {
    "fb122": "FB122",
    "wn18": "WN18",
    "wn18rr": "WN18RR",
    "fb15k-237": "FB15k-237",
    "wn18-limited": "WN18 with limited training data",
}
_PARTS = {"test-I": "Test-I", "test-II": "Test-II", "test": "Test-ALL"}
_METRICS = {"hits@3": "Hits@3", "hits@5": "Hits@5", "hits@10": "Hits@10", "mrr": "MRR"}

_BEYOND_PARTS = _PARTS | {"test": "all"}
_BEYOND = """\
## Beyond the paper

ComplEx trained against all entities, with reciprocal relations and the N3 regulariser, without clauses and with them
([how](how-to/the-best-model.md)). MRR and Hits are filtered, with the full filter and realistic ties: the mean over
seeds ± the standard deviation between them. *+ entailment* is the model above it with the facts that follow from train
by confident clauses ranked first. Targets are for the mean. Published figures are as their authors give them.
"""


def table_section(name: str, folder: Path) -> list[str]:
    """Return the lines of a table's section, from the records in a folder and its ``notes.md``."""
    rows, records = PAPER_TABLES[name], read_records(folder)
    cells = compare(rows, records)
    lines = [f"## {_TITLES[name]}", ""]
    for part in PARTS if records else ():
        metrics = [
            metric for metric in METRICS if any(key[1:] == (part, metric) and _shown(rows, key) for key in cells)
        ]
        if metrics:
            lines += [f"**{_PARTS[part]}**", ""]
            head = ["", *(_METRICS[metric] for metric in metrics)]
            known = [row for row in rows if any((row.name, part, metric) in cells for metric in metrics)]
            lines += table(head, [[row.title, *(_cell(cells, row, part, m) for m in metrics)] for row in known])
    if records:
        lines += _differing(cells, rows)
        lines += _last_epochs(rows, records)
        lines += _as_the_paper_measured(rows, records)
        lines += _how(rows, records)
    else:
        lines += ["Nothing has been trained for this table yet.", ""]
    lines += ["```console", f"clausal reproduce {name}", "```", ""]
    return [*lines, *notes(folder / "notes.md")]


def _shown(rows: Sequence[PaperRow], key: Key) -> bool:
    """Show of limited data what the paper shows."""
    limited = rows[0].share is not None
    return not limited or key[1:] in (("test", "hits@10"), ("test", "mrr"))


def _cell(cells: Mapping[Key, Comparison], row: PaperRow, part: str, metric: str) -> str:
    return str(cells.get((row.name, part, metric), MISSING))


def _differing(cells: Mapping[Key, Comparison], rows: Sequence[PaperRow]) -> list[str]:
    """Say how many cells differ from the paper, and list those that are below it."""
    compared = {key: cell for key, cell in cells.items() if cell.difference is not None}
    if not compared:
        return []
    titles = {row.name: row.title for row in rows}
    above = sum(cell.differs and cell.difference > 0 for cell in compared.values() if cell.difference)
    below = {key: cell for key, cell in compared.items() if cell.differs and (cell.difference or 0) < 0}
    agree = len(compared) - above - len(below)
    lines = [
        f"Of {len(compared)} cells, {agree} agree with the paper, {above} are above it ▲ and {len(below)} below ▼."
    ]
    for (row, part, metric), cell in below.items():
        by = f"{-(cell.difference or 0):.3f}" if metric == "mrr" else f"{-(cell.difference or 0):.1f} points"
        lines.append(f"- {titles[row]}, {_PARTS[part]}, {_METRICS[metric]}: {by} below")
    return ["\n".join([lines[0], "", *lines[1:]]) if len(lines) > 1 else lines[0], ""]


def _last_epochs(rows: Sequence[PaperRow], records: Sequence[Record]) -> list[str]:
    """Return MRR of the last epoch, which the paper reports, beside that of the best on valid."""
    last, best = compare(rows, records, of="last"), compare(rows, records)
    trained = [row for row in rows if any(key[0] == row.name and cell.ours for key, cell in last.items())]
    if not trained:
        return []
    parts = [part for part in PARTS if any((row.name, part, "mrr") in last for row in trained)]

    def shown(row: PaperRow, part: str) -> str:
        found = best.get((row.name, part, "mrr"))
        return f"{_cell(last, row, part, 'mrr')} (best {found.measured if found else MISSING})"

    body = [[row.title, *(shown(row, part) for part in parts)] for row in trained]
    return [
        "MRR of the last epoch, which the paper reports; in brackets that of the best on valid of the same trainings.",
        "",
        *table(["", *(_PARTS[part] for part in parts)], body),
    ]


def _as_the_paper_measured(rows: Sequence[PaperRow], records: Sequence[Record]) -> list[str]:
    """Return MRR with the paper's probable filter and ties, where there are parts."""
    cells = compare(rows, records, filter="partial", ties="optimistic")
    if not any(cell.ours for cell in cells.values()):
        return []
    trained = [row for row in rows if any(key[0] == row.name and cell.ours for key, cell in cells.items())]
    body = [[row.title, *(_cell(cells, row, part, "mrr") for part in PARTS)] for row in trained]
    return [
        "MRR as the paper probably measured it: partial filter, optimistic ties.",
        "",
        *table(["", *_PARTS.values()], body),
    ]


def _how(rows: Sequence[PaperRow], records: Sequence[Record]) -> list[str]:
    """Return the settings of each row and what its trainings took."""
    body = []
    for row in rows:
        of_row = [record for record in records if record["row"] == row.name]
        if not of_row:
            continue
        seconds = [record["seconds"] for record in of_row]
        kept = [str(record["best_epoch"]) for record in of_row]
        body.append(
            [
                row.title,
                chosen_settings(of_row[0]),
                str(of_row[0]["clauses"]),
                ", ".join(str(record["seed"]) for record in of_row),
                ", ".join(kept),
                f"{sum(seconds) / len(seconds):.0f}",
            ]
        )
    head = ["", "settings", "clauses", "seeds", "best epoch", "seconds each"]
    return [*table(head, body), f"Trained on {made_on(records)}.", ""]


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
        *(f"MRR {_BEYOND_PARTS[part]}" for part in parts),
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
    return (
        "missed by " + ", ".join(f"{by:.4f} ({_BEYOND_PARTS[part]})" for part, by in short.items()) if short else "met"
    )


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
