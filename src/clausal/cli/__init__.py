"""The command line: one file per command. Results go to stdout, progress and messages to stderr.

The names here are for commands that other packages add by an entry point of the group ``clausal.commands``.
"""

from __future__ import annotations

import os
import sys

from clausal.cli.app import add_plugins, app
from clausal.cli.commands import Command, Group, InterruptedByUserError
from clausal.cli.inputs import read_clauses, read_graph
from clausal.cli.output import Format, FormatOption, print_results, printable, say
from clausal.cli.progress import Bars
from clausal.errors import ClausalError, is_out_of_memory, shortened

__all__ = [
    "Bars",
    "Command",
    "Format",
    "FormatOption",
    "Group",
    "main",
    "print_results",
    "read_clauses",
    "read_graph",
    "say",
]


def main() -> None:
    """Run the command line; every failure ends in one message and an exit code, not in a traceback."""
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="backslashreplace")  # names may not fit the terminal's encoding
    try:
        add_plugins()
        app()
    except InterruptedByUserError as error:
        _stop(str(error), error.exit_code)
    except ClausalError as error:
        _stop(f"error: {error}", error.exit_code)
    except OSError as error:
        _stop(f"error: {error.filename or 'input or output'}: {error.strerror or error}", 1)
    except Exception as error:
        if is_out_of_memory(error):
            _stop("error: out of memory; end other programs, or take a machine with more memory", 1)
        if os.environ.get("CLAUSAL_DEBUG"):
            raise
        _stop(
            f"internal error: {type(error).__name__}: {error}\nset CLAUSAL_DEBUG=1 to see where, and report it",
            1,
        )
    finally:
        _flush()


def _stop(message: str, code: int) -> None:
    print(printable(shortened(message)), file=sys.stderr)
    sys.exit(code)


def _flush() -> None:
    """Print what is left; where the reader of a pipe has ended, as ``head`` does, drop it without a complaint."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
