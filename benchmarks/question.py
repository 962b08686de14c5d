"""What one question to a trained run costs: the processor time of ``clausal predict`` beside that of ``import torch``.

    python benchmarks/question.py [--times 5] [--run RUN]

Both are measured in turn, in new processes, and the smallest of each is taken. Without ``--run`` the demo's model is
trained first.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

TARGET = 1.5
QUERY = "capital_of(?, France)"


def main() -> None:
    """Measure and print the ratio next to the target."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--run", type=Path)
    parser.add_argument("--query", default=QUERY)
    options = parser.parse_args()
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} before the start")
    with tempfile.TemporaryDirectory() as folder:
        run = options.run or Path(folder) / "demo"
        if options.run is None:
            _processor_seconds(["-m", "clausal", "demo", "--out", str(run)])
        question = ["-m", "clausal", "predict", str(run), options.query]
        _processor_seconds(question)  # compiles what Python keeps compiled
        pairs = [
            (_processor_seconds(question), _processor_seconds(["-c", "import torch"])) for _ in range(options.times)
        ]
    asked, imported = (min(seconds) for seconds in zip(*pairs, strict=True))
    ratio = asked / imported
    print(f"one question {asked:.2f} s, import torch {imported:.2f} s of processor time")
    print(f"ratio {ratio:.2f}, target at most {TARGET}: {'met' if ratio <= TARGET else 'missed'}")


def _processor_seconds(arguments: Sequence[str]) -> float:
    """Return the user and system time of a Python process that must succeed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


if __name__ == "__main__":
    main()
