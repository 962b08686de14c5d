"""How many questions a second the service answers, and how long each takes.

    make load

The client has a process of its own, and requests are sent by the clock: one that comes late waits, and that counts.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from load.run_directory import write_run
from load.server import served


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rates", type=float, nargs="+", default=[500, 1000, 1500, 2000, 4000])
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--entities", type=int, default=9_738)
    options = parser.parse_args()
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} before the start")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run"
        write_run(path, options.entities)
        with served(path) as (port, process):
            _ask(port, 200, 3, options)  # the first questions warm up
            print("| requests/s | answered/s | p50 | p90 | p99 | slowest | refused | processor time of each |")
            print("|---|---|---|---|---|---|---|---|")
            for rate in options.rates:
                before = _processor(process)
                found = _ask(port, rate, options.seconds, options)
                each = 1000 * (_processor(process) - before) / found["answered"]
                refused = sum(count for status, count in found["statuses"].items() if status != "200")
                times = " | ".join(f"{found[name]:.1f} ms" for name in ("p50_ms", "p90_ms", "p99_ms", "max_ms"))
                print(f"| {rate:,.0f} | {found['rate']:,.0f} | {times} | {refused:,} | {each:.2f} ms |", flush=True)
            print(f"memory of the server: {_memory(process):.0f} MB; load now {os.getloadavg()[0]:.1f}")


def _ask(port: int, rate: float, seconds: float, options: argparse.Namespace) -> dict[str, Any]:
    numbers = (port, rate, seconds, options.connections, options.entities)
    command = [sys.executable, "-m", "load.client", *map(str, numbers)]
    found: dict[str, Any] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return found


def _processor(process: int) -> float:
    """Return the processor time of a process so far, in seconds: it says what other programs take no part in."""
    fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _memory(process: int) -> float:
    status = Path(f"/proc/{process}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


if __name__ == "__main__":
    main()
