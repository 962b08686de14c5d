"""The command line: one file per command. Results go to stdout, progress and messages to stderr.

The names here are for commands that other packages add by an entry point of the group ``clausal.commands``. They are
imported on first use: all but a few milliseconds of a command's start lie inside ``main``, which explains what happens.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any, NoReturn

from clausal.cli.interrupts import Interrupts

if TYPE_CHECKING:
    from clausal.cli.commands import Command, Group
    from clausal.cli.inputs import read_clauses, read_graph
    from clausal.cli.output import Format, FormatOption, print_results, say
    from clausal.cli.progress import Bars

_MODULE_OF = {
    "Bars": "progress",
    "Command": "commands",
    "Format": "output",
    "FormatOption": "output",
    "Group": "commands",
    "print_results": "output",
    "read_clauses": "inputs",
    "read_graph": "inputs",
    "say": "output",
}

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


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'clausal.cli' has no attribute {name!r}")
    return getattr(import_module(f"clausal.cli.{_MODULE_OF[name]}"), name)


def main() -> None:
    """Run the command line; every failure ends in one message and an exit code, not in a traceback."""
    with Interrupts() as interrupts:
        if hasattr(sys.stdout, "reconfigure"):
            sys.stdout.reconfigure(errors="backslashreplace")  # names may not fit the terminal's encoding
        try:
            try:
                from clausal.cli.app import add_plugins, app

                add_plugins()
                app()
            finally:
                interrupts.ended()
        except BaseException as error:
            if interrupts.came or isinstance(error, KeyboardInterrupt):  # whatever became of it on its way
                if "CLAUSAL_MEETING" not in os.environ:  # else the process that has started this one says so
                    print("interrupted; an unfinished training can go on with --resume", file=sys.stderr)
                sys.exit(130)
            _explain(error)
        finally:
            _flush()


def _explain(error: BaseException) -> NoReturn:
    """End with the message of an error, and its exit code."""
    from clausal.errors import ClausalError, is_out_of_memory

    if isinstance(error, ClausalError):
        _stop(f"error: {error}", error.exit_code)
    if isinstance(error, OSError):
        _stop(f"error: {error.filename or 'input or output'}: {error.strerror or error}", 1)
    if not isinstance(error, Exception):  # such as SystemExit
        raise error
    if is_out_of_memory(error):
        _stop("error: out of memory; end other programs, or take a machine with more memory", 1)
    if os.environ.get("CLAUSAL_DEBUG"):
        raise error
    _stop(f"internal error: {type(error).__name__}: {error}\nset CLAUSAL_DEBUG=1 to see where, and report it", 1)


def _stop(message: str, code: int) -> NoReturn:
    from clausal.cli.output import printable
    from clausal.errors import shortened

    print(printable(shortened(message)), file=sys.stderr)
    sys.exit(code)


def _flush() -> None:
    """Print what is left; where the reader of a pipe has ended, as ``head`` does, drop it without a complaint."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
