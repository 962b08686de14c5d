"""The page of the zoo from its records."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from common.machine import in_words

PAGE = Path(__file__).parents[2] / "docs/reference/zoo.md"
_REMARK = """\
*World, no valid* is the one graph where clauses cost more than noise. The race holds out facts of train there, and
mined rules conclude 33 % of these from the rest, but only 12 % of the test facts from train: what helps the former
costs the latter. Valid facts that are like the questions to come are the way out. In the records of 2026-11-18 all
graphs but Kinship are of a race that spared work for trials with clauses, and of votes that had to gain 1.6 standard
errors instead of one: with the latter UMLS' second seed has .984 fused, which counts as .960 in its mean.
"""
Record = dict[str, Any]

_RANKINGS = ("defaults", "best", "clauses", "rules", "fused")
_INTRODUCTION = """\
# The zoo: graphs that nobody tuned for

The same commands on every graph, without a setting: `clausal train GRAPH` (defaults), `clausal train GRAPH --preset
best` (best), and the same with `--clauses` and the rules of `clausal mine GRAPH` (clauses). In the run of `best` mined
rules vote: *rules* are their votes alone, by the maximum, and *fused* those with the model. Filtered MRR on test,
the mean over the seeds. *Clauses − best* and *fused − best* are paired differences over the test facts with two
standard errors.
`make zoo` measures it again on your machine.

{machines}

<!-- Generated from results/benchmarks/zoo.jsonl by `make zoo`. -->
"""


def write_page(records: Sequence[Record]) -> str:
    """Write the page, and return its table."""
    table = "\n".join([*_header(), *(_row(group) for group in _by_graph(records))])
    chosen = "\n".join(["", "What the race chose, with the first seed:", "", *_choices(records)])
    by_cores = {record["machine"]["cores"]: f"{in_words(record['machine'])}." for record in records}
    text = _INTRODUCTION.format(machines="\n\n".join(by_cores.values()))
    PAGE.write_text(f"{text}\n{table}\n\n{_REMARK}{chosen}\n", encoding="utf-8")
    return table


def _by_graph(records: Sequence[Record]) -> list[list[Record]]:
    names = dict.fromkeys(record["graph"] for record in records)
    return [[record for record in records if record["graph"] == name] for name in names]


def _header() -> list[str]:
    columns = ["graph", "entities", "relations", "train / valid / test", "rules", "seeds", *_RANKINGS]
    columns += ["clauses − best", "fused − best", "seconds: best, with clauses, mine"]
    return [f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]


def _row(records: Sequence[Record]) -> str:
    first = records[0]
    facts = " / ".join(f"{first['facts'].get(name, 0):,}" for name in ("train", "valid", "test"))
    cells = [first["graph"], f"{first['entities']:,}", f"{first['relations']:,}", facts, f"{first['rules']:,}"]
    cells.append(str(len(records)))
    cells += [_mean(records, "mrr", name) for name in _RANKINGS]
    cells += [_against_best(records, name) for name in ("clauses", "fused")]
    seconds = [np.mean([record["seconds"].get(name, 0) for record in records]) for name in ("best", "clauses", "mine")]
    cells.append(", ".join(f"{value:.0f}" for value in seconds))
    return f"| {' | '.join(cells)} |"


def _against_best(records: Sequence[Record], name: str) -> str:
    differences = [record["against_best"][name] for record in records if name in record["against_best"]]
    if not differences:
        return "–"
    mean = np.mean([one["mean"] for one in differences])
    error = np.sqrt(np.mean([one["error"] ** 2 for one in differences]) / len(differences))
    return f"{mean:+.3f} ± {2 * error:.3f}"


def _mean(records: Sequence[Record], what: str, name: str) -> str:
    values = [record[what][name] for record in records if name in record[what]]
    return f"{np.mean(values):.3f}".lstrip("0") if values else "–"


def _choices(records: Sequence[Record]) -> list[str]:
    names = list(records[0]["settings"])
    lines = [f"| graph | {' | '.join(name.replace('_', ' ') for name in names)} |", "|---" * (len(names) + 1) + "|"]
    for group in _by_graph(records):
        lines.append(f"| {group[0]['graph']} | {' | '.join(str(group[0]['settings'][name]) for name in names)} |")
    return lines
