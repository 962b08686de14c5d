"""Write locked.txt: what CI installs, each package with the hashes of its files. usage: make lock

Versions are those of constraints.txt. torch is left out, with what its builds for GPUs bring: which build is right
depends on the machine, so that it is installed in a step of its own, by its version alone.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
HEADER = """\
# What CI installs, with the hashes of all files of each package; torch is a step of its own.
# Written by `make lock` from constraints.txt; not to be changed by hand.
"""
_OF_TORCH = re.compile(r"(torch|triton|nvidia-.+|cuda-.+)==")


def main() -> None:
    """Resolve what the tests need, and write it down."""
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "locked.txt"
        command = [
            *(sys.executable, "-m", "uv", "pip", "compile", "pyproject.toml", "--quiet", "--output-file", str(target)),
            *("--extra", "serve", "--group", "test", "--group", "build", "--constraint", "constraints.txt"),
            *("--generate-hashes", "--no-annotate", "--no-header", "--allow-unsafe"),
            *("--python-version", "3.11.7", "--python-platform", "x86_64-manylinux_2_28"),
        ]
        subprocess.run(command, cwd=REPOSITORY, check=True)
        packages = re.split(r"^(?=[A-Za-z])", target.read_text(encoding="utf-8"), flags=re.MULTILINE)
    kept = "".join(package for package in packages if package.strip() and not _OF_TORCH.match(package))
    (REPOSITORY / "locked.txt").write_text(HEADER + kept, encoding="utf-8")


if __name__ == "__main__":
    main()
