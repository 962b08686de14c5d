"""Files of a run: written under a temporary name and renamed, so that a kill leaves the old or the new, never half."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from clausal.errors import InputError, RunError


def write_atomically(path: Path, write: Callable[[Path], object]) -> None:
    """Let ``write`` fill a temporary file, then put it in the place of ``path``."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with explained_os_errors(path):
            write(temporary)
            with temporary.open("rb") as file:
                os.fsync(file.fileno())
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
        number = errno.ENOSPC if "os error 28" in str(error) else None
        raise _explain(path, number, str(error)) from None


def _explain(path: Path, number: int | None, message: str) -> RunError:
    if number in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return RunError(f"{path}: the disk is full; nothing was overwritten. Free some space and use --resume")
    return RunError(f"{path}: cannot be written: {message}")


def write_json(path: Path, value: Any) -> None:
    """Write a value as indented JSON."""
    text = json.dumps(value, indent=2, ensure_ascii=False) + "\n"
    write_atomically(path, lambda file: file.write_text(text, encoding="utf-8"))


def read_json(path: Path) -> dict[str, Any]:
    """Read a JSON object, or say what is wrong with the file."""
    try:
        value = json.loads(read_text(path))
    except (json.JSONDecodeError, RecursionError) as error:
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
