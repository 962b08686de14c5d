"""The parts of the page on large tables: several processes beside one, their accuracy, one GPU, and a plan on paper."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

Found = dict[str, Any]
GROWTH = "growth"
"""How ``gpu_scale.py`` names the graphs that grow."""

_PLAN = """\
## A plan for 400 million entities

On paper; what was measured of it is above. 400 million entities of dim 128 in bfloat16 with one AdaGrad sum a row
take 102 GB and 1.6 GB. Two billion facts take 24 GB in each process, and their order in a pass 8 GB. On four GPUs
of 140 GB each holds 26 GB of rows, 32 GB of facts and order, and a few GB of batch. With batches of 4 million facts
a process takes a million of them, fetches 2 · 10⁶ · 3/4 vectors of 256 bytes and sends as many gradients of 512
bytes: 1.2 GB a step, and 0.6 TB in the 500 steps of a pass. By links of 50 GB/s that is 12 s of communication;
computation takes the seconds per million facts of one GPU times 500{computation}. Clauses add nothing to the
communication.
"""


def further_sections(together: Found, sent: Found, accuracy: Found, gpu: Found) -> Iterable[str]:
    """Yield the lines of all parts that have figures."""
    if together:
        yield from _together(together)
    if sent:
        yield from _sent(sent)
    if accuracy:
        yield from _accuracy(accuracy)
    if gpu:
        yield from _gpu(gpu)
    growth = [point for point in gpu.get("points", []) if point["what"] == GROWTH]
    measured = ""
    if growth:
        most = max(growth, key=lambda point: int(point["facts"]))
        seconds = 500 * most["seconds_per_million"]
        measured = f": {seconds:.0f} s, by the largest graph measured, of {most['facts'] // 1_000_000} million facts"
    yield _PLAN.format(computation=measured)


def _together(stored: Found) -> Iterable[str]:
    yield "## Several processes\n"
    yield (
        "Random graphs as above, DistMult, dim 100, batches of 10,000 facts: one process with the fused step and two "
        "threads beside two processes with a thread each, measured one after the other by `python -m together` "
        "(`benchmarks/together`). Memory is the peak of training, of the larger process; CPU is that of all of them.\n"
    )
    yield "| graph | processes | a pass, s | CPU of a pass, s | memory of a process, GB | sent by a process in a step |"
    yield "|---|---|---|---|---|---|"
    for key, found in stored.items():
        for size, rows in found["processes"].items():
            seconds, memory = (max(row[name] for row in rows) for name in ("pass", "memory of training"))
            cpu, sent = sum(row["cpu"] for row in rows), max(row["bytes_per_step"] for row in rows)
            yield (
                f"| {key} | {size} | {seconds:.1f} | {cpu:.1f} | {memory / 1000:.2f} | "
                f"{'' if size == '1' else f'{sent / 1e6:.2f} MB'} |"
            )
        ratios, load = found["ratios"], found["machine"]["load"]
        shown = ", ".join(f"{name} {ratio:.2f}" for name, ratio in ratios.items())
        yield f"| | ratio | {shown}; load {load} before the start | | | |"
    yield ""


def _sent(stored: Found) -> Iterable[str]:
    yield "### Bytes with and without clauses\n"
    yield (
        "What a process sends in a step, on average over a pass, by `python -m together` with `--clauses`: "
        "implications, inverses and compositions in closed form.\n"
    )
    yield "| graph | process | bytes a step |"
    yield "|---|---|---|"
    for key, found in stored.items():
        for row in found["processes"]["2"]:
            yield f"| {key} | {row['rank']} | {row['bytes_per_step']:,} |"
    yield ""


def _accuracy(stored: Found) -> Iterable[str]:
    yield "## Accuracy of several processes and of less memory\n"
    yield (
        "FB122 with its 38 one-atom clauses, filtered MRR of all of test, `python -m together.accuracy`. The trainings "
        "are short, so that the figures are for comparison alone.\n"
    )
    yield "| training | variant | seeds | MRR | mean | difference to one process |"
    yield "|---|---|---|---|---|---|"
    for key, found in stored.items():
        means: dict[str, float] = {}
        for name in dict.fromkeys(run["variant"] for run in found["runs"]):
            values = [run["mrr"] for run in found["runs"] if run["variant"] == name]
            means[name] = sum(values) / len(values)
            shown, difference = ", ".join(f"{value:.3f}" for value in values), means[name] - means["one process"]
            yield f"| {key} | {name} | {len(values)} | {shown} | {means[name]:.4f} | {difference:+.4f} |"
    yield ""


def _gpu(stored: Found) -> Iterable[str]:
    yield "## One GPU\n"
    yield f"{stored['machine']['gpu']}, ComplEx, dim 128, whole passes by `python benchmarks/gpu_scale.py`.\n"
    if any(point["what"] == GROWTH for point in stored["points"]):
        yield (
            "Growing graphs have ten facts for each entity; the others are of the size of Wikidata5M. A graph is "
            "prepared when its facts and its table are on the card: in single precision all numbers are drawn by one "
            "thread of the CPU, so that a seed begins alike on every device; by rows, by the card itself. "
            f"{stored.get('note', '')}\n"
        )
        yield "![Seconds per million facts and memory against the number of facts](../figures/scaling-gpu.png)\n"
    else:
        yield "Measured so far: the size of Wikidata5M. Graphs that grow to 500 million facts are not measured yet.\n"
    head = ["graph", "facts", "entities", "table, sums", "batch", "clauses", "a pass, s", "s per million facts"]
    yield f"| {' | '.join([*head, 'prepared, s', 'GB of the GPU'])} |"
    yield "|---" * (len(head) + 2) + "|"
    for point in stored["points"]:
        cells = [
            point["what"],
            f"{point['facts']:,}",
            f"{point['entities']:,}",
            f"{point['table']}, a {point['adagrad_sums']}",
            f"{point['batch']:,}",
            str(point["clauses"]),
            f"{point['seconds']:.2f}",
            f"{point['seconds_per_million']:.3f}",
            f"{point['preparing']:.1f}",
            f"{point['memory_gb']:.1f}",
        ]
        yield f"| {' | '.join(cells)} |"
    yield ""
