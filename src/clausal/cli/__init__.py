"""The command line: one file per command. Results go to stdout, progress and messages to stderr."""

from __future__ import annotations

import os
import sys

from clausal.cli.app import app
from clausal.errors import ClausalError

__all__ = ["main"]


def main() -> None:
    """Run the command line; every failure ends in one message and an exit code, not in a traceback."""
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="backslashreplace")  # names may not fit the terminal's encoding
    try:
        app()
    except ClausalError as error:
        _stop(f"error: {error}", error.exit_code)
    except KeyboardInterrupt:
        _stop("interrupted; an unfinished training can go on with --resume", 130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # so that closing stdout does not fail again
        sys.exit(0)
    except MemoryError:
        _stop("error: out of memory; try a smaller model.dim, clauses.sets or facts.batch_size", 1)
    except Exception as error:
        if os.environ.get("CLAUSAL_DEBUG"):
            raise
        _stop(
            f"internal error: {type(error).__name__}: {error}\nset CLAUSAL_DEBUG=1 to see where, and report it",
            1,
        )


def _stop(message: str, code: int) -> None:
    print(message, file=sys.stderr)
    sys.exit(code)
