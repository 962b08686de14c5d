"""Try every fault at every step of every command, and write down how often it went well.

usage: make faults, or, from ``tests``: python -m faults [--commands NAME…] [--faults NAME…] [--most STEPS] [--out FILE]
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import shutil
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

from faults.commands import COMMANDS, Command, make_template
from faults.faults import FAULTS, Fault, SlowError, WrongError, applies, new_trial
from faults.watching import Step, why_not

RESULTS = Path(__file__).parents[2] / "results/tests/faults.json"
_EVERYWHERE = ("kill",)  # tried at every step; the others at some
_FEW = 5


def main() -> int:
    """Run the campaign; return 1 where anything was wrong."""
    options = _options()
    if reason := why_not():
        print(f"left out: {reason}")
        return 0
    import torch

    torch.set_num_threads(1)
    started = time.monotonic()
    tried: list[dict[str, Any]] = []
    folder = Path(tempfile.mkdtemp(prefix="faults-")).resolve()  # which children do not remove when they end
    try:
        make_template(folder / "template")
        chosen = [command for command in COMMANDS if not options.commands or command.name in options.commands]
        with ProcessPoolExecutor(options.processes, multiprocessing.get_context("fork")) as pool:
            jobs = [pool.submit(_try, number, folder / "template", options) for number in map(COMMANDS.index, chosen)]
            for job in jobs:
                tried += job.result()
                record = _summary(tried, time.monotonic() - started)
                if options.out:
                    options.out.parent.mkdir(parents=True, exist_ok=True)
                    options.out.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    finally:
        shutil.rmtree(folder)
    print(f"{record['cases']} faults, {record['failures']} of them not taken well")
    return bool(record["failures"])


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--commands", nargs="*", help="some of the commands, by name")
    parser.add_argument("--faults", nargs="*", choices=FAULTS, help="some of the faults")
    parser.add_argument("--most", type=int, help="at most so many steps of a command for each fault, evenly spread")
    parser.add_argument("--processes", type=int, default=1, help="commands that are tried at the same time")
    parser.add_argument("--out", type=Path, help="file for the counts")
    return parser.parse_args()


def _try(number: int, template: Path, options: argparse.Namespace) -> list[dict[str, Any]]:
    """Try all faults on one command."""
    command = COMMANDS[number]
    reference, steps = _measure(command, template)
    tried = []
    for fault, cause in FAULTS.items():
        if options.faults and fault not in options.faults:
            continue
        watched = steps["memory" if fault == "no memory" else "files" if fault in _READING else "changes"]
        numbers = [step.number for step in watched if applies(fault, step)]
        if fault.startswith("power cut"):
            numbers.append(len(watched) + 1)  # after the end
        most = options.most or (None if fault in _EVERYWHERE and not command.slow else _FEW)
        begun = time.monotonic()
        for number in _spread(numbers, most):
            step = watched[number - 1] if number <= len(watched) else None
            about = {"command": command.name, "fault": fault, "step": number}
            where = {
                "call": step.call if step else "after the end",
                "file": _plain(step.path, template) if step else "",
            }
            tried.append({**about, **where, **_outcome(command, template, reference, cause, number, step)})
        done = [one for one in tried if one["fault"] == fault]
        bad = sum(bool(one["wrong"]) for one in done)
        spent = time.monotonic() - begun
        print(f"{command.name}: {fault}: {len(done) - bad} of {len(done)}, {spent:.0f} s", flush=True)
        for one in done:
            if one["wrong"]:
                print(f"    {one['step']} {one['call']} {one['file']}: {one['wrong']}", flush=True)
    return tried


def _outcome(
    command: Command, template: Path, reference: Any, cause: Fault, number: int, step: Step | None
) -> dict[str, Any]:
    """Cause a fault at a step, once more where only the time was wrong."""
    for last in (False, True):
        wrong = None
        with new_trial(command, template, reference) as trial:
            try:
                cause(trial, number)
            except SlowError as error:
                wrong = str(error)
                if not last:
                    continue
            except WrongError as error:
                wrong = str(error)
        break
    return {"reached": trial.hit is not None or step is None, "wrong": wrong}


_READING = ("input or output error", "too many open files")


def _measure(command: Command, template: Path) -> tuple[Any, dict[str, list[Step]]]:
    """Run a command without a fault, and list its steps by what is watched."""
    with new_trial(command, template, None) as trial:
        code = trial.start(None).wait()
        if code != 0:
            sys.exit(f"{command.name}: fails without a fault: {trial.log.read_text()[-2000:]}")
        reference = command.result(trial.root)
    steps: dict[str, list[Step]] = {}
    for watch in ("changes", "files", "memory"):
        with new_trial(command, template, reference) as trial:
            found: list[Step] = []
            code = trial.start(watch).watch(trial.root, lambda step, found=found: found.append(step) or 0)
            if code != 0 or command.result(trial.root) != reference:
                sys.exit(f"{command.name}: not the same when watched: {trial.log.read_text()[-2000:]}")
            steps[watch] = found
    print(f"{command.name}: {', '.join(f'{len(found)} {watch}' for watch, found in steps.items())}", flush=True)
    return reference, steps


def _spread(numbers: list[int], most: int | None) -> list[int]:
    """Return all of them, or so many, evenly spread, with the first and the last."""
    if most is None or len(numbers) <= most:
        return numbers
    return sorted({numbers[round(place * (len(numbers) - 1) / (most - 1))] for place in range(most)})


def _plain(path: Path, template: Path) -> str:
    """Return a path without what differs from one trial to the next."""
    parts = path.parts[len(template.parent.parts) + 2 :]
    return "/".join(".…" if part.startswith(".") and part.endswith(".tmp") else part for part in parts)


def _summary(tried: list[dict[str, Any]], seconds: float) -> dict[str, Any]:
    """Return the counts of a campaign: by fault, and by command and fault."""
    reached = [one for one in tried if one["reached"]]
    return {
        "what": "faults at single steps of commands, by kind: the old state stands, or the command can be finished",
        "last": datetime.now(UTC).date().isoformat(),
        "minutes": round(seconds / 60, 1),
        **_counts(reached),
        "targets": {fault: _counts(reached, fault=fault) for fault in FAULTS if _counts(reached, fault=fault)["cases"]},
        "commands": {
            command: {fault: _counts(reached, command=command, fault=fault)["cases"] for fault in FAULTS}
            for command in dict.fromkeys(one["command"] for one in reached)
        },
        "wrong": [one for one in reached if one["wrong"]],
    }


def _counts(tried: list[dict[str, Any]], **chosen: str) -> dict[str, int]:
    some = [one for one in tried if chosen.items() <= one.items()]
    return {"cases": len(some), "failures": sum(bool(one["wrong"]) for one in some)}


if __name__ == "__main__":
    sys.exit(main())
