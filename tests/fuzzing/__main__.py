"""The long run: ``python -m fuzzing --minutes 10``. Each target has its turns, in processes that are bounded.

What failed is left in ``.fuzz`` as the smallest case that shows it: mend it, and move it to ``corpus``. The counts of
all runs are summed up in ``results/tests/fuzz.json``.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from counts import Counts, Turn
from fuzzing.cases import Case
from fuzzing.targets import NAMES

ROOT = Path(__file__).parents[2]
FAILED = ROOT / ".fuzz"
WHAT = "odd inputs by target, summed over all runs of `make fuzz`: only explained errors may come of them"
CHILD = ["-W", "ignore", "-m", "fuzzing.child"]
_TURN = 120.0  # seconds of a target before the next one has its turn
_SILENCE = 300.0  # seconds without a new case after which a process hangs
_START = 300.0  # seconds in which a process must be ready


def take_turn(name: str, seed: int, seconds: float, known: set[str]) -> Turn:
    """Fuzz a target in a process of its own; what it dies or hangs of is a failure too."""
    turn = Turn()
    with tempfile.TemporaryDirectory(prefix="fuzz-turn-") as folder:
        journal, errors = Path(folder) / "case.json", Path(folder) / "stderr"
        order = {"target": name, "seed": seed, "seconds": seconds, "journal": str(journal), "known": sorted(known)}
        environment = os.environ | {"OMP_NUM_THREADS": "1", "TMPDIR": folder, "CUDA_VISIBLE_DEVICES": ""}
        command = [sys.executable, *CHILD, json.dumps(order)]
        with (
            errors.open("w") as said,
            subprocess.Popen(command, stdout=subprocess.PIPE, stderr=said, text=True, env=environment) as process,
        ):
            watch = threading.Thread(target=_watch, args=(process, journal), daemon=True)
            watch.start()
            begun = time.monotonic()
            for text in process.stdout or ():
                line = json.loads(text)
                turn.cases += line["tried"]
                if not line["tried"]:
                    begun = time.monotonic()
                if "place" in line:
                    known.add(line["place"])
                    turn.failures.append(_keep(name, Case.from_json(line["case"]), line["error"]))
            code = process.wait()
            turn.seconds = time.monotonic() - begun
        if code:
            how = f"the process ended by signal {-code}" if code < 0 else f"the process ended with code {code}"
            case = Case.from_json(journal.read_text(encoding="utf-8")) if journal.exists() else Case()
            turn.failures.append(_keep(name, case, f"{how}: {errors.read_text(errors='replace')[-200:]}"))
    return turn


def _watch(process: subprocess.Popen[str], journal: Path) -> None:
    """Kill a process that begins no new case."""
    begun = time.time()
    while process.poll() is None:
        time.sleep(1)
        last, patience = (journal.stat().st_mtime, _SILENCE) if journal.exists() else (begun, _START)
        if time.time() - last > patience:
            process.kill()


def _keep(name: str, case: Case, error: str) -> str:
    FAILED.mkdir(exist_ok=True)
    path = FAILED / f"{name}-{case.digest}.json"
    path.write_text(case.to_json(), encoding="utf-8")
    return f"{path.relative_to(ROOT)}: {error[:300]}"


def main() -> None:
    """Fuzz for some minutes, and end with 1 where anything failed."""
    parser = argparse.ArgumentParser(prog="python -m fuzzing", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10, help="of fuzzing, over all targets")
    parser.add_argument("--target", action="append", choices=NAMES, help="only this target; can be repeated")
    parser.add_argument("--seed", type=int, help="by which cases are drawn; another one each time if not given")
    given = parser.parse_args()
    names = given.target or list(NAMES)
    seed = given.seed if given.seed is not None else int(time.time())
    left, counts, failures = 60 * given.minutes, Counts("fuzz", WHAT), 0
    known: dict[str, set[str]] = {name: set() for name in names}
    print(f"{given.minutes:g} minutes, {len(names)} targets, seed {seed}", flush=True)
    while left > 1:
        for place, name in enumerate(names):
            seconds = min(_TURN, left / (len(names) - place))
            turn = take_turn(name, seed, seconds, known[name])
            counts.add(name, turn)
            left, failures = left - seconds, failures + len(turn.failures)
            print(f"{name:<10} {turn.cases:>7,} cases, {turn.seconds:.0f} s", *turn.failures, sep="\n  ", flush=True)
        seed += 1_000_003  # batches of one turn count on from its seed
    print(
        f"{failures} failures" + (": mend them, and move them to tests/fuzzing/corpus" if failures else ""), flush=True
    )
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
