"""Files of a run: written under a temporary name and renamed, so that a kill leaves the old or the new, never half."""

from __future__ import annotations

import errno
import json
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from clausal.errors import InputError, RunError

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def write_atomically(path: Path, write: Callable[[Path], object], workshop: Path | None = None) -> None:
    """Let ``write`` fill a temporary file, in the folder ``workshop`` if given, then put it in the place of ``path``.

    A kill can leave the temporary file behind; the workshop is where the run sweeps it up.
    """
    temporary = (workshop or path.parent) / f".{path.name}.{os.getpid()}.tmp"
    with explained_os_errors(path):
        try:
            temporary.touch()
            mode = temporary.stat().st_mode & 0o777
            write(temporary)
            with temporary.open("rb") as file:
                os.fsync(file.fileno())
            temporary.chmod(mode)  # safetensors leaves files that only their owner can read
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)


@contextmanager
def explained_os_errors(path: Path) -> Iterator[None]:
    """Turn a full disk, a missing permission and the like into one message."""
    try:
        yield
    except OSError as error:
        raise _explain(path, error.errno, str(error.strerror or error)) from None
    except Exception as error:  # safetensors wraps the operating system's error in its own
        if type(error).__name__ != "SafetensorError":
            raise
        number = re.search(r"os error (\d+)", str(error))
        raise _explain(path, int(number[1]) if number else None, str(error)) from None


def _explain(path: Path, number: int | None, message: str) -> RunError:
    if number in _FULL:
        return RunError(
            f"{path}: the disk is full; nothing was overwritten. Free some space and try again, "
            "with --resume if a training had begun"
        )
    return RunError(f"{path}: cannot be written: {message}")


def write_text(path: Path, text: str, workshop: Path | None = None) -> None:
    """Write UTF-8 text, atomically."""
    write_atomically(path, lambda file: file.write_text(text, encoding="utf-8"), workshop)


def write_json(path: Path, value: Any, workshop: Path | None = None) -> None:
    """Write a value as indented JSON, atomically."""
    write_text(path, json.dumps(value, indent=2, ensure_ascii=False) + "\n", workshop)


def read_json(path: Path) -> dict[str, Any]:
    """Read a JSON object, or say what is wrong with the file."""
    try:
        value = json.loads(read_text(path))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: not valid JSON, the run directory is damaged: {error}") from None
    if not isinstance(value, dict):
        raise InputError(f"{path}: expected a JSON object, the run directory is damaged")
    return value


def read_text(path: Path) -> str:
    """Read UTF-8 text, or say what is wrong with the file."""
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise InputError(f"{path}: missing, the run directory is incomplete") from None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read: {error}") from None


def require_kind(path: Path, *, folder: bool = False) -> None:
    """Refuse a link, a pipe or a device in the place of a file or folder: what it leads to is not the run's."""
    if path.is_symlink() or (path.exists() and not (path.is_dir() if folder else path.is_file())):
        raise InputError(
            f"{path}: expected a {'folder' if folder else 'file'} of the run itself, not a link or something else"
        )
