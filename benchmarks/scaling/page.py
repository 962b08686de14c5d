"""The page and the figure of the stored measurements: ``PYTHONPATH=benchmarks python -m scaling.page``."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from common.machine import in_words
from scaling.engines import engine_sections
from scaling.points import TRIPLES_PER_ENTITY
from scaling.together import GROWTH, further_sections

ROOT = Path(__file__).parent.parent.parent
RESULTS = ROOT / "results/benchmarks/scaling.json"
PAGE = ROOT / "docs/reference/scaling.md"
FIGURE = ROOT / "docs/figures/scaling.png"
GPU_FIGURE = ROOT / "docs/figures/scaling-gpu.png"
FURTHER = ("together.json", "together-bytes.json", "together-accuracy.json", "gpu-scale.json")

Found = dict[str, Any]
_COLUMNS: dict[str, Callable[[Found], str]] = {
    "loading, million triples per second": lambda found: f"{found['facts'] / found['loading'] / 1e6:.1f}",
    "a pass, s": lambda found: f"{found['pass']:.2f}",
    "a pass, s per million triples": lambda found: f"{1e6 * found['pass'] / found['facts']:.2f}",
    "ranking 1,000 facts, s": lambda found: f"{found['ranking']:.1f}",
    "peak memory, GB": lambda found: f"{found['memory'] / 1000:.1f}",
}
_AXES = {
    "triples": f"Triples, with {TRIPLES_PER_ENTITY} of them for each entity, dim 100",
    "entities": "Entities, with 5 million triples, dim 100",
    "dim": "Dim, with a million triples and 250,000 entities",
    "clauses": "Clauses, with 200,000 triples, 50,000 entities, dim 100, ten batches",
}
_INTRODUCTION = """\
# Scaling

How costs grow, on random graphs of 100 relations: DistMult on the cube, the fused step, one corrupted subject and one
corrupted object for each fact, batches of 10,000 facts, and the filtered ranking of 1,000 test facts on both sides
among all entities. Each point is a process of its own. `make scaling` measures it again on your machine.

{machine}

![Seconds of a pass, seconds of a ranking, memory and loading against the size of the graph](../figures/scaling.png)

<!-- Generated from results/benchmarks/scaling.json by `make docs`. -->
"""


def scaling_page(stored: dict[str, Any]) -> str:
    """Return the page in Markdown."""
    tables = (line for axis in _AXES for line in _table(axis, along(stored, axis)))
    further = further_sections(*(_read(RESULTS.with_name(name)) for name in FURTHER))
    engines = engine_sections(_read(RESULTS.with_name("engines.json")))
    return "\n".join([_INTRODUCTION.format(machine=in_words(stored["machine"]) + "."), *tables, *engines, *further])


def _read(path: Path) -> Found:
    found: Found = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return found


def along(stored: dict[str, Any], axis: str) -> list[Found]:
    """Return the measurements of an axis, smallest first."""
    return [found for found in stored["points"].values() if found["axis"] == axis]


def _table(axis: str, points: list[Found]) -> Iterable[str]:
    if not points:
        return
    with_clauses = axis == "clauses"
    head = [axis, *(["adversary"] if with_clauses else []), *_COLUMNS]
    yield f"## {_AXES[axis]}\n"
    yield f"| {' | '.join(head)} |"
    yield "|---" * len(head) + "|"
    for found in points:
        cells = [f"{found[axis]:,}", *([found["adversary"]] if with_clauses else [])]
        yield f"| {' | '.join([*cells, *(write(found) for write in _COLUMNS.values())])} |"
    yield ""


def main() -> None:
    """Write both, if there are measurements."""
    if not RESULTS.exists():
        print(f"{RESULTS.name} is not there; make scaling measures it", file=sys.stderr)
        return
    from scaling.figure import draw, draw_growth

    stored = json.loads(RESULTS.read_text(encoding="utf-8"))
    PAGE.write_text(scaling_page(stored), encoding="utf-8")
    draw(stored, FIGURE)
    gpu = RESULTS.with_name("gpu-scale.json")
    points = json.loads(gpu.read_text(encoding="utf-8"))["points"] if gpu.exists() else []
    if growth := [point for point in points if point["what"] == GROWTH]:
        draw_growth(growth, GPU_FIGURE)


if __name__ == "__main__":
    main()
