"""Print the lowest version of each package that pyproject.toml allows, as constraints of pip (``make test-lowest``)."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

_LOWEST = re.compile(r"([A-Za-z0-9_.-]+)(?:\[[^\]]*\])?\s*>=\s*([0-9.]+)")


def main() -> None:
    """Print a line for each requirement of the package and of its extras."""
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for line in [
        *project["dependencies"],
        *(one for extra in project["optional-dependencies"].values() for one in extra),
    ]:
        found = _LOWEST.match(line)
        if found is None:
            raise SystemExit(f"pyproject.toml: no lower bound: {line}")
        print(f"{found[1]}=={found[2]}")


if __name__ == "__main__":
    main()
