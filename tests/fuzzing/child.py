"""One turn of the long run, in a process of its own: it may die, and the parent then knows of which case."""

from __future__ import annotations

import json
import resource
import sys
from pathlib import Path

from fuzzing.batches import fuzz
from fuzzing.cases import Case
from fuzzing.limits import resident
from fuzzing.targets import target

_MEMORY = 4 << 30  # bytes beyond those that the process has when it begins


def main() -> None:
    """Fuzz as the parent asks: name, seed, seconds, journal, known failures. Each line of stdout is one batch."""
    order = json.loads(sys.argv[1])
    journal, chosen = Path(order["journal"]), target(order["target"])
    out, sys.stdout = sys.stdout, sys.stderr  # what the program prints is no line for the parent
    chosen.prepare()
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (resident("VmSize") + _MEMORY, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    print(json.dumps({"tried": 0}), file=out, flush=True)

    def tell(case: Case) -> None:
        journal.write_text(case.to_json(), encoding="utf-8")

    for tried, found in fuzz(chosen, order["seed"], order["seconds"], tell, set(order["known"])):
        line = {"tried": tried}
        if found is not None:
            line |= {"place": found.place, "error": found.error, "case": found.case.to_json()}
        print(json.dumps(line), file=out, flush=True)


if __name__ == "__main__":
    main()
