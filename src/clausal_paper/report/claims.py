"""The section on what the paper claims: figures from records, whether a claim holds by them, and the command."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, Literal, NamedTuple

from clausal.files import read_json
from clausal_paper.report.records import MISSING, read_records, table
from clausal_paper.report.robustness import ATOMS, certified_rows
from clausal_paper.report.synthetic import synthetic_claims
from clausal_paper.tables.comparison import values
from clausal_paper.tables.published import SHARES

Epoch = Literal["last", "metrics"]
_EPOCHS: Mapping[Epoch, str] = {"last": "last epoch", "metrics": "best epoch"}
_TITLES = {"complex": "ComplEx", "distmult": "DistMult"}
_KALE = {"KALE-Pre": "kale-pre", "KALE-Joint": "kale-joint"}
_OTHERS = {
    "entities": "real entities drawn at random",
    "entities-100": "real entities drawn at random, of 100 times the weight",
    "grounded": "grounded clauses",
}
_PARTS = {"test": "all of test", "test-II": "Test-II", "test-I": "Test-I"}
_INTRODUCTION = """\
A claim is held against records by the last epoch, as the paper reports, and by the best one on valid; against synthetic
knowledge bases by the adversary of the authors' scripts and by that of the paper's text. Each figure is the mean over
seeds; the one in brackets is what it is compared with. Where two are nearer to each other than the seeds of one, as the
tables below have them, chance may have decided. Their remarks say why a claim does not hold, where that is known."""
_ALIKE = 0.002  # differences of MRR below this are none
_ABOUT_AS_GOOD = 0.01
_A_FIFTH = "closed forms take about a fifth of the time of ascent"
_FIFTH = 0.3  # what is still about a fifth
_GROWTH = 1.5  # of a time, which is no growth where entities grow by thousands

Finding = tuple[str, bool]
"""Figures in words, and whether a claim holds by them."""


class Claim(NamedTuple):
    """A claim on link prediction, the table that shows it, and what the records say by an epoch, if they do."""

    words: str
    table: str
    finding: Callable[[Epoch], Finding | None]


class Cost(NamedTuple):
    """A claim on cost or robustness, the command that shows it, and what was found."""

    words: str
    command: str
    finding: Finding


class Means:
    """MRR by table and row, the mean over seeds."""

    def __init__(self, folder: Path) -> None:
        self._records = {table: read_records(folder / table) for table in ("fb122", "wn18", "wn18-limited")}

    def mrr(self, table: str, row: str, part: str, epoch: Epoch) -> float | None:
        """Return a row's MRR on a part of test, with the full filter; None where it was not measured."""
        found = list(values([one for one in self._records[table] if one["row"] == row], part, "mrr", of=epoch))
        return fmean(found) if found else None

    def pairs(
        self, table: str, rows: Mapping[str, tuple[str, str]], part: str, epoch: Epoch
    ) -> dict[str, tuple[float, float]] | None:
        """Return the MRR of two rows for each title; None where one was not measured."""
        found = {}
        for title, names in rows.items():
            high, low = (self.mrr(table, name, part, epoch) for name in names)
            if high is None or low is None:
                return None
            found[title] = (high, low)
        return found


def claims_section(results: Path) -> list[str]:
    """Return the lines of the section; none where nothing was trained."""
    lines = [
        *_benchmarks(Means(results / "paper")),
        *_synthetic(results / "paper"),
        *_costs([*_of_costs(results / "benchmarks"), *_of_robustness(results / "paper" / "certify")]),
    ]
    return ["## What the paper claims", "", _INTRODUCTION, "", *lines] if lines else []


def _benchmarks(means: Means) -> list[str]:
    found = {claim: [claim.finding(epoch) for epoch in _EPOCHS] for claim in _of_rows(means)}
    rows = [
        [claim.words, *(word for one in both for word in _words(one)), f"`reproduce {claim.table}`"]
        for claim, both in found.items()
        if any(both)
    ]
    head = ["claim, by MRR", *(word for title in _EPOCHS.values() for word in (title, "")), "`clausal …`"]
    held = " and ".join(
        f"{sum(bool(one and one[1]) for one in of_epoch)} of {sum(one is not None for one in of_epoch)} by the {title}"
        for title, of_epoch in zip(_EPOCHS.values(), zip(*found.values(), strict=True), strict=True)
    )
    return [f"Of link prediction; {held} hold:", "", *table(head, rows)] if rows else []


def _synthetic(folder: Path) -> list[str]:
    scripts, text = (synthetic_claims(folder, protocol) for protocol in ("scripts", "text"))
    rows = [[words, *_words(scripts.get(words)), *_words(text.get(words))] for words in {**scripts, **text}]
    head = ["claim, by AUC-PR in percent", "scripts", "", "text", ""]
    return ["Of synthetic knowledge bases, `clausal reproduce synthetic`:", "", *table(head, rows)] if rows else []


def _costs(claims: Sequence[Cost]) -> list[str]:
    rows = [[claim.words, *_words(claim.finding), f"`{claim.command}`"] for claim in claims]
    return ["Of cost and robustness:", "", *table(["claim", "figures", "", "command"], rows)] if rows else []


def _words(found: Finding | None) -> list[str]:
    if found is None:
        return [MISSING, MISSING]
    return [found[0], "holds" if found[1] else "does not hold"]


def _of_rows(means: Means) -> Iterator[Claim]:
    """Yield the claims on the tables of link prediction."""
    for part, where in _PARTS.items():
        for kind in ("ASR", "cASR"):
            rows = {title: (f"{kind.lower()}-{model}", model) for model, title in _TITLES.items()}
            yield _better(means, f"{kind} improves its base on FB122, {where}", "fb122", rows, part)
    rows = {title: (f"casr-{model}", f"asr-{model}") for model, title in _TITLES.items()}
    yield _better(means, "cASR is about as good as ASR on FB122 (within 0.01)", "fb122", rows, slack=_ABOUT_AS_GOOD)
    for name, title in (("fb122", "FB122"), ("wn18", "WN18")):
        rows = {f"ASR-{_TITLES[model]}": (f"asr-{model}", "kale-joint") for model in _TITLES}
        yield _better(means, f"ASR is better than KALE-Joint on {title}", name, rows)
    yield Claim("ASR's relative gain on FB122 is larger than KALE's", "fb122", lambda epoch: _gains(means, epoch))
    for variant, words in _OTHERS.items():
        for part in ("test", "test-I"):
            rows = {title: (f"asr-{model}", f"asr-{model}-{variant}") for model, title in _TITLES.items()}
            words_of_part = f"adversarial sets are better than {words}, on FB122, {_PARTS[part]}"
            yield _better(means, words_of_part, "fb122", rows, part)
    rows = {title: (f"asr-{model}", model) for model, title in _TITLES.items()}
    words = "on WN18, where facts say it already, ASR does not hurt (within 0.002)"
    yield _better(means, words, "wn18", rows, slack=_ALIKE)
    rows = {f"{share:.0%}": (f"asr-complex-{100 * share:.0f}", f"complex-{100 * share:.0f}") for share in SHARES}
    yield _better(means, "with fewer facts of WN18, ASR is above ComplEx at every size", "wn18-limited", rows)
    words = "the fewer facts of WN18, the more ASR adds: more with 20 % of them than with 50 %"
    yield Claim(words, "wn18-limited", lambda epoch: _growth(means, rows, epoch))


def _better(
    means: Means,
    words: str,
    name: str,
    rows: Mapping[str, tuple[str, str]],
    part: str = "test",
    slack: float = 0.0,
) -> Claim:
    """Return the claim that the first row of each pair is better than the second, or at most ``slack`` worse."""

    def finding(epoch: Epoch) -> Finding | None:
        pairs = means.pairs(name, rows, part, epoch)
        if pairs is None:
            return None
        figures = ", ".join(f"{title} {high:.3f} ({low:.3f})".strip() for title, (high, low) in pairs.items())
        return figures, all(high > low - slack for high, low in pairs.values())

    return Claim(words, name, finding)


def _gains(means: Means, epoch: Epoch) -> Finding | None:
    rows = {f"ASR-{title}": (f"asr-{model}", model) for model, title in _TITLES.items()}
    rows |= {title: (row, "transe") for title, row in _KALE.items()}
    pairs = means.pairs("fb122", rows, "test", epoch)
    if pairs is None:
        return None
    gains = {title: 100 * (high / low - 1) for title, (high, low) in pairs.items()}
    words = {title: f"{title} {gain:.1f} %" for title, gain in gains.items()}
    ours, theirs = (", ".join(words[title] for title in words if (title in _KALE) is kale) for kale in (False, True))
    least = min(gain for title, gain in gains.items() if title not in _KALE)
    return f"{ours} ({theirs})", least > max(gains[title] for title in _KALE)


def _growth(means: Means, rows: Mapping[str, tuple[str, str]], epoch: Epoch) -> Finding | None:
    pairs = means.pairs("wn18-limited", rows, "test", epoch)
    if pairs is None:
        return None
    gains = [high - low for high, low in pairs.values()]
    return ", ".join(f"{title} {gain:+.3f}" for title, gain in zip(pairs, gains, strict=True)), gains[0] > gains[-1]


def _of_costs(folder: Path) -> Iterator[Cost]:
    """Yield the claims on cost; a training without clauses is subtracted from all times."""
    path = folder / "clause-cost.json"
    if path.exists():
        yield from _of_sizes(read_json(path)["rows"])
    path = folder / "gpu.json"
    if path.exists():
        yield from _of_a_gpu(read_json(path)["trainings"])


def _of_sizes(rows: Sequence[Mapping[str, float]]) -> Iterator[Cost]:
    command, closed, ascent = "python benchmarks/clause_cost.py", "1,000 closed-form", "1,000 gradient"
    few, many = rows[0], rows[-1]
    sizes = " and ".join(f"{1000 * row[closed]:.0f} ms with {row['entities']:,} entities" for row in (few, many))
    words = "what clauses cost does not depend on the number of entities"
    yield Cost(words, command, (f"1,000 closed forms: {sizes}", many[closed] < _GROWTH * few[closed]))
    times = f"1,000 clauses: {1000 * many[closed]:.0f} ms, against {1000 * many[ascent]:.0f} ms by ascent"
    yield Cost(f"{_A_FIFTH}, on a CPU", command, (times, many[closed] < _FIFTH * many[ascent]))


def _of_a_gpu(trainings: Sequence[Mapping[str, Any]]) -> Iterator[Cost]:
    """Yield how what closed forms add compares with what ascent adds, on each domain that was timed."""
    domains = dict.fromkeys(one.get("domain", "cube") for one in trainings)
    for domain in domains:
        some = [one for one in trainings if one["scorer"] == "complex" and one.get("domain", "cube") == domain]
        seconds = {(one["adversary"], one["clauses"]): one["seconds"] for one in some}
        base = seconds["none", 0]
        ascent = seconds["gradient", 47] - base
        for count in (38, 47):
            if ("closed-form", count) in seconds:
                closed = seconds["closed-form", count] - base
                times = (
                    f"{count} of FB122's clauses on the {domain}: {closed:.2f} s, "
                    f"against {ascent:.2f} s for 47 by ascent, in 1,000 passes"
                )
                yield Cost(f"{_A_FIFTH}, on a GPU", "python benchmarks/gpu.py", (times, closed < _FIFTH * ascent))


def _of_robustness(folder: Path) -> Iterator[Cost]:
    """Yield the claim that clauses make a model more robust, by bounds and over real entities."""
    rows = certified_rows(folder)
    base = rows.get("complex")
    for name, title in (("asr-complex", "ASR-ComplEx"), ("casr-complex", "cASR-ComplEx")):
        row = rows.get(name)
        if row is None or base is None:
            continue
        for atoms, kind in ATOMS.items():
            bounds, rates = (row.bound(atoms), base.bound(atoms)), (row.rate(atoms), base.rate(atoms))
            figures = (
                f"mean bound {bounds[0]:.2f} margins ({bounds[1]:.2f}), "
                f"broken by {100 * rates[0]:.2f} % of assignments of entities ({100 * rates[1]:.2f} %)"
            )
            words = f"{title} is more robust than ComplEx, {kind}"
            holds = bounds[0] < bounds[1] and rates[0] < rates[1]
            yield Cost(words, "clausal reproduce certify", (figures, holds))
