"""What thousands of clauses cost: epochs with them and without in turn, as ratios, next to their targets.

    python benchmarks/many_clauses.py [--rounds 5] [--only corruptions | all-entities] [--out FILE]

On FB122 against corruptions, by gradient ascent and in closed form, with 1,500 and 50,000 clauses of five shapes; and
against all entities with 38 mined rules on a part of FB15k-237, of about 33,000 facts. Each has a process of its own.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from common.machine import describe_machine, in_words
from common.processes import measure, store

ROOT = Path(__file__).parent.parent
_PRESETS = {
    "the defaults": None,
    "ASR-ComplEx": "fb122-asr-complex",
    "ASR-DistMult": "fb122-asr-distmult",
    "cASR-ComplEx": "fb122-casr-complex",
    "cASR-DistMult": "fb122-casr-distmult",
}
_TARGETS = {1_500: 2.0, 50_000: 4.0}
_RULES, _DIM, _TARGET = 38, 256, 1.3


def main() -> None:
    """Measure each kind in turn, print its line and store it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", choices=["corruptions", "all-entities"], help="one kind of training")
    parser.add_argument("--out", type=Path, default=ROOT / "results/benchmarks/many-clauses.json")
    options = parser.parse_args()
    machine, found = describe_machine(), {}
    print(in_words(machine), flush=True)
    presets = {} if options.only == "all-entities" else _PRESETS
    for name, preset in presets.items():
        task = {"preset": preset, "counts": list(_TARGETS), "rounds": options.rounds}
        found[name] = measure("clauses_in_turn.corruptions", task)
        for place, (count, target) in enumerate(_TARGETS.items(), start=1):
            _print(f"FB122, {name}, {count:,} clauses", found[name], place, target)
    if options.only != "corruptions":
        name = f"against all entities, {_RULES} rules"
        found[name] = measure("clauses_in_turn.all_entities", {"rules": _RULES, "dim": _DIM, "rounds": options.rounds})
        _print(name, found[name], 1, _TARGET)
    store(options.out, {"machine": machine, "ratios": found})


def _print(name: str, found: dict[str, list[float]], place: int, target: float) -> None:
    parts = found["parts"][place]
    print(
        f"{name}: {found['wall'][place]:.2f} times an epoch without, {found['processor'][place]:.2f} in processor time "
        f"(target {target:g}); {f'one of {parts} parts a step' if parts > 1 else 'all of them each step'}, "
        f"prepared in {found['prepared'][place]:.1f} s",
        flush=True,
    )


if __name__ == "__main__":
    main()
