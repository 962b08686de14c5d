"""The section on what the paper claims of the benchmarks: the command that shows it, figures, and whether it holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, Literal, NamedTuple

from clausal.files import read_json
from clausal_paper.report.records import read_records, table
from clausal_paper.tables.published import SHARES

Epoch = Literal["metrics", "last"]
_EPOCHS: Mapping[Epoch, str] = {"last": "last epoch", "metrics": "best epoch"}
_TITLES = {"complex": "ComplEx", "distmult": "DistMult"}
_INTRODUCTION = """\
Figures are MRR, the mean over seeds, unless they say otherwise. What it claims of synthetic knowledge bases is in
their section."""
_ALIKE = 0.002  # differences of MRR below this are none
_A_FIFTH = "closed forms take about a fifth of the time of ascent"
_FIFTH = 0.3  # what is still about a fifth
_GROWTH = 1.5  # of a time, which is no growth where entities grow by thousands


class Claim(NamedTuple):
    """What is claimed, the command that shows it, the figures of both sides, and whether all of them agree."""

    words: str
    command: str
    figures: str
    holds: bool


class Means:
    """MRR by table and row, the mean over seeds."""

    def __init__(self, folder: Path) -> None:
        self._records = {
            table: {(record["row"], record["seed"]): record for record in read_records(folder / table)}
            for table in ("fb122", "wn18", "wn18-limited")
        }

    def mrr(self, table: str, row: str, part: str = "test", epoch: Epoch = "metrics") -> float | None:
        """Return a row's MRR on a part of test, with the full filter; None where it was not trained."""
        found = [
            (record.get(epoch) or record["metrics"])["full"]["realistic"][part]["mrr"]
            for (name, _), record in self._records[table].items()
            if name == row
        ]
        return fmean(found) if found else None


def claims_section(results: Path) -> list[str]:
    """Return the lines of the section; none where nothing was trained."""
    found = [*_of_rows(Means(results / "paper")), *_of_costs(results / "benchmarks")]
    if not found:
        return []
    rows = [[one.words, f"`{one.command}`", one.figures, "holds" if one.holds else "does not hold"] for one in found]
    return [
        "## What the paper claims",
        "",
        _INTRODUCTION,
        "",
        *table(["claim", "command", "figures", ""], rows),
    ]


def _of_rows(means: Means) -> Iterator[Claim]:
    for part, words in (("test", "all of test"), ("test-II", "Test-II"), ("test-I", "Test-I")):
        for model in _TITLES:
            for kind, how in (("asr", ""), ("casr", ", closed forms")):
                claim = f"clauses improve {_TITLES[model]} on FB122, {words}{how}"
                yield from _ordered(means, "fb122", claim, f"{kind}-{model}", model, part)
    yield from _gains(means)
    for variant, words in (("entities", "real entities drawn at random"), ("grounded", "grounded clauses")):
        for epoch in _EPOCHS:
            yield from _ordered(
                means,
                "fb122",
                f"adversarial sets are better than {words}, {_EPOCHS[epoch]}",
                "asr-complex",
                f"asr-complex-{variant}",
                "test",
                epoch,
            )
    for model in _TITLES:
        clauses, base = means.mrr("wn18", f"asr-{model}"), means.mrr("wn18", model)
        if clauses is not None and base is not None:
            words = f"on WN18, where facts say it already, clauses do not hurt {_TITLES[model]}"
            yield Claim(words, _command("wn18"), f"{clauses:.3f} and {base:.3f}", clauses > base - _ALIKE)
    for epoch in _EPOCHS:
        yield from _limited(means, epoch)


def _ordered(
    means: Means, name: str, words: str, better: str, worse: str, part: str, epoch: Epoch = "metrics"
) -> Iterator[Claim]:
    high, low = means.mrr(name, better, part, epoch), means.mrr(name, worse, part, epoch)
    if high is not None and low is not None:
        yield Claim(words, _command(name), f"{high:.3f}, against {low:.3f}", high > low)


def _gains(means: Means) -> Iterator[Claim]:
    rows = {"KALE-Pre": ("kale-pre", "transe"), "ASR-ComplEx": ("asr-complex", "complex")}
    gains = {}
    for title, (better, worse) in rows.items():
        high, low = means.mrr("fb122", better), means.mrr("fb122", worse)
        if high is None or low is None:
            return
        gains[title] = 100 * (high / low - 1)
    figures = ", ".join(f"{title} {gain:.1f} %" for title, gain in gains.items())
    words = "the relative gain on FB122 is larger than KALE's"
    yield Claim(words, _command("fb122"), figures, gains["ASR-ComplEx"] > gains["KALE-Pre"])


def _limited(means: Means, epoch: Epoch) -> Iterator[Claim]:
    pairs = {
        share: [
            means.mrr("wn18-limited", f"{row}-{100 * share:.0f}", epoch=epoch) for row in ("asr-complex", "complex")
        ]
        for share in SHARES
    }
    known = {share: (high, low) for share, (high, low) in pairs.items() if high is not None and low is not None}
    if known:
        words = f"the fewer facts of WN18, the more clauses help: ASR above ComplEx at every size, {_EPOCHS[epoch]}"
        figures = "; ".join(f"{share:.0%}: {high:.3f}, {low:.3f}" for share, (high, low) in known.items())
        yield Claim(words, _command("wn18-limited"), figures, all(high > low for high, low in known.values()))


def _of_costs(folder: Path) -> Iterator[Claim]:
    """Yield the claims on cost; a training without clauses is subtracted from all times."""
    path = folder / "clause-cost.json"
    if path.exists():
        yield from _of_sizes(read_json(path)["rows"])
    path = folder / "gpu.json"
    if path.exists():
        yield from _of_a_gpu(read_json(path)["trainings"])


def _of_sizes(rows: Sequence[Mapping[str, float]]) -> Iterator[Claim]:
    command, closed, ascent = "python benchmarks/clause_cost.py", "1,000 closed-form", "1,000 gradient"
    few, many = rows[0], rows[-1]
    sizes = " and ".join(f"{1000 * row[closed]:.0f} ms with {row['entities']:,} entities" for row in (few, many))
    words = "what clauses cost does not depend on the number of entities"
    yield Claim(words, command, f"1,000 closed forms: {sizes}", many[closed] < _GROWTH * few[closed])
    times = f"1,000 clauses: {1000 * many[closed]:.0f} ms, against {1000 * many[ascent]:.0f} ms by ascent"
    yield Claim(f"{_A_FIFTH}, on a CPU", command, times, many[closed] < _FIFTH * many[ascent])


def _of_a_gpu(trainings: Sequence[Mapping[str, Any]]) -> Iterator[Claim]:
    seconds = {(one["adversary"], one["clauses"]): one["seconds"] for one in trainings if one["scorer"] == "complex"}
    base = seconds["none", 0]
    ascent = seconds["gradient", 47] - base
    for count in (38, 47):
        closed = seconds["closed-form", count] - base
        times = f"{count} of FB122's clauses: {closed:.2f} s, against {ascent:.2f} s for 47 by ascent, in 1,000 passes"
        yield Claim(f"{_A_FIFTH}, on a GPU", "python benchmarks/gpu.py", times, closed < _FIFTH * ascent)


def _command(name: str) -> str:
    return f"clausal reproduce {name}"
