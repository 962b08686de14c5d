"""A measurement in a process of its own, so that its memory and its start-up are its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

BENCHMARKS = Path(__file__).parent.parent


def measure(module: str, task: dict[str, Any], python: str | Path = sys.executable) -> dict[str, Any]:
    """Run ``main(task)`` of a module of the benchmarks with a Python of its own; return what it measured.

    The task learns when its process was started (``started``, seconds since the epoch).
    """
    paths = [str(BENCHMARKS), *filter(None, [os.environ.get("PYTHONPATH")])]
    code = f"import json, sys; from {module} import main; print(json.dumps(main(json.loads(sys.argv[1]))))"
    done = subprocess.run(
        [str(python), "-c", code, json.dumps(task | {"started": time.time()})],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"{done.stderr}\n{module} failed on {task}")
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def store(path: Path, content: dict[str, Any]) -> None:
    """Write results to a file in full or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(".tmp")
    temporary.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    temporary.replace(path)
