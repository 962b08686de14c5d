"""Files: written whole or not at all, read as text, locked between processes; what the system refuses is one message.

A file or a folder is filled under a temporary name, synced to the disk and then renamed, and the folder that holds it
is synced too. So a kill or a power cut leaves the old content or the new, never half of it.

What is read or written is a file on a disk: a pipe or a device is refused, as the first can wait for ever, the second
need not end, and a rename would put a file in the place of either.
"""

from __future__ import annotations

import errno
import json
import os
import re
import secrets
import shutil
import stat
import time
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from clausal.compression import bare_name, compression_of, decompressed
from clausal.errors import ClausalError, InputError, RunError, is_out_of_memory

__all__ = [
    "READING_ERRORS",
    "atomic_file",
    "atomic_folder",
    "bare_name",
    "cannot_read",
    "check_file_target",
    "check_new_folder",
    "check_regular",
    "compression_of",
    "copy_file",
    "decompressed",
    "enough_memory_to_read",
    "explained_os_errors",
    "locked_file",
    "make_folder",
    "open_bytes",
    "read_json",
    "read_text",
    "sync",
    "sync_folder",
    "write_bytes",
    "write_json",
    "write_text",
]

_DISK_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_CANNOT_SYNC = (errno.EINVAL, errno.ENOTSUP, errno.EBADF)  # some file systems cannot sync a folder
_LOCKED = (errno.EAGAIN, errno.EACCES, errno.EDEADLK)  # the ways in which systems say that another process has a lock
_PAUSE = 0.05  # seconds between two attempts to get a lock
_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}

READING_ERRORS = (OSError, EOFError, zlib.error)
"""What opening, reading or decompressing a file can raise."""


@contextmanager
def atomic_file(path: Path, temporary_folder: Path | None = None) -> Iterator[Path]:
    """Yield a temporary file to be filled, which then takes the place of ``path``; after an error nothing is left.

    A link is followed to the file that it names. A kill can leave the temporary file behind, in ``temporary_folder``
    where one on the same disk is given.
    """
    check_file_target(path)
    if path.is_symlink():
        path = path.resolve()
    temporary = _temporary_name(path, temporary_folder)
    with explained_os_errors(path):
        try:
            os.close(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
            mode = temporary.stat().st_mode & 0o777
            yield temporary
            temporary.chmod(mode)  # safetensors leaves files that only their owner can read
            sync(temporary)
            temporary.replace(path)
            sync_folder(path.parent)
        finally:
            temporary.unlink(missing_ok=True)


@contextmanager
def atomic_folder(path: Path) -> Iterator[Path]:
    """Yield a temporary folder to be filled, which then becomes the new folder ``path``; an error leaves nothing.

    Folders above it that are missing are made too. Whoever writes a file into it syncs that file.
    """
    check_new_folder(path)
    temporary = _temporary_name(path)
    with explained_os_errors(path):
        missing = _missing(path)[1:]
        try:
            temporary.mkdir(parents=True)
            yield temporary
            sync_folder(temporary)
            temporary.rename(path)
            for folder in (path, *missing):
                sync_folder(folder.parent)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
            _remove_empty(missing)


def make_folder(path: Path) -> None:
    """Make a folder, with those above it that are missing; what is there already stays."""
    with explained_os_errors(path):
        missing = _missing(path)
        path.mkdir(parents=True, exist_ok=True)
        for folder in missing:
            sync_folder(folder.parent)


def _missing(path: Path) -> list[Path]:
    """Return a path and the folders above it, those that do not exist, the innermost first."""
    return [folder for folder in (path, *path.parents) if not folder.exists()]


def copy_file(source: Path, target: Path) -> None:
    """Copy a file into a folder that is being filled."""
    with explained_os_errors(source):
        shutil.copyfile(source, target)
        sync(target)


def _remove_empty(folders: Iterable[Path]) -> None:
    """Remove folders, the innermost first, up to the first that holds something."""
    for folder in folders:
        try:
            folder.rmdir()
        except FileNotFoundError:
            continue
        except OSError:
            return


def check_file_target(path: Path) -> None:
    """Refuse a place that no file can be written to: a folder, a pipe, a device, or none at all."""
    kind = _kind(path)
    if kind is not None:
        raise InputError(f"{path}: {kind}; expected the name of a file to write")


def check_new_folder(path: Path, instead: str = "choose a new folder") -> None:
    """Refuse a new folder where something is already, or whose path ends in ``..`` and so names another."""
    _kind(path)  # a name that cannot be
    with explained_os_errors(path):
        taken = path.exists() or path.is_symlink()
    if taken:
        raise InputError(f"{path}: exists already; {instead}")
    if path.name in ("", ".."):
        raise InputError(f"{path}: not the name of a new folder; {instead}")


def check_regular(path: Path) -> None:
    """Refuse to read what is there but is no file on a disk; whether it is there at all is for the reader to say."""
    kind = _kind(path)
    if kind == "a folder":
        raise InputError(f"{path}: a folder; expected a file")
    if kind is not None:
        raise InputError(f"{path}: {kind}; expected a file on a disk, which can be read twice: save it to one first")


def _kind(path: Path) -> str | None:
    """Say what is at a path where it is no file; None for a file, and for what is missing or out of reach."""
    try:
        mode = path.stat().st_mode
    except ValueError:
        raise InputError(f"{str(path)!r}: not a path: it holds a NUL character") from None
    except OSError:
        return None  # whoever opens it is told why
    return None if stat.S_ISREG(mode) else _KINDS.get(stat.S_IFMT(mode), "not a file")


def write_bytes(path: Path, content: bytes, temporary_folder: Path | None = None) -> None:
    """Write bytes, atomically."""
    with atomic_file(path, temporary_folder) as temporary:
        temporary.write_bytes(content)


def write_text(path: Path, text: str, temporary_folder: Path | None = None) -> None:
    """Write text in UTF-8, atomically."""
    write_bytes(path, text.encode(), temporary_folder)


def write_json(path: Path, value: Any, temporary_folder: Path | None = None) -> None:
    """Write a value as indented JSON, atomically."""
    write_text(path, json.dumps(value, indent=2, ensure_ascii=False) + "\n", temporary_folder)


def sync(path: Path) -> None:
    """Wait until the content of a file is on the disk."""
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def sync_folder(folder: Path) -> None:
    """Wait until the names in a folder are on the disk, where the system can do that: Windows cannot."""
    try:
        opened = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(opened)
    except OSError as error:
        if error.errno not in _CANNOT_SYNC:
            raise
    finally:
        os.close(opened)


def _temporary_name(path: Path, folder: Path | None = None) -> Path:
    """Return a name that no other process or thread has, on this machine or another that shares the disk."""
    return (folder or path.parent) / f".{path.name[:40]}.{secrets.token_hex(8)}.tmp"


def read_text(path: Path) -> str:
    """Return the text of a file in UTF-8, with or without a byte order mark, decompressed by its ending."""
    try:
        with enough_memory_to_read(path), open_bytes(path) as stream:
            content = stream.read()
    except READING_ERRORS as error:
        raise cannot_read(path, error) from None
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"{path}:{line}: not UTF-8 text (byte 0x{content[error.start]:02x}); save it as UTF-8"
        ) from None


def read_json(path: Path) -> dict[str, Any]:
    """Return the JSON object that a file holds."""
    try:
        value = json.loads(read_text(path))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: damaged: not valid JSON: {error}") from None
    if not isinstance(value, dict):
        raise InputError(f"{path}: damaged: expected a JSON object")
    return value


def open_bytes(path: Path) -> BinaryIO:
    """Open a file for reading bytes, decompressed by its ending. A pipe or a device is an InputError."""
    check_regular(path)
    return decompressed(path.open("rb"), compression_of(path))


def cannot_read(path: Path, error: BaseException) -> InputError:
    """Say what is wrong with a file that cannot be opened or decompressed."""
    compression = compression_of(path)
    if isinstance(error, EOFError):
        return InputError(f"{path}: the {compression or 'text'} file ends too early; copy or download it again")
    if isinstance(error, zlib.error) or (compression and isinstance(error, OSError) and error.errno is None):
        return InputError(f"{path}: not a {compression} file, or a damaged one ({error}); copy or download it again")
    if isinstance(error, FileNotFoundError):
        return InputError(f"{path}: no such file")
    if isinstance(error, IsADirectoryError):
        return InputError(f"{path}: a folder; expected a file")
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error).split("\n")[0]
    return InputError(f"{path}: cannot be read: {reason}")


@contextmanager
def enough_memory_to_read(source: object) -> Iterator[None]:
    """Turn a lack of memory, met while what ``source`` names is read, into one message."""
    try:
        yield
    except ClausalError:
        raise
    except Exception as error:
        if not is_out_of_memory(error):
            raise
        raise RunError(
            f"{source}: out of memory while reading it; end other programs, take a machine with more memory, "
            "or divide the file"
        ) from None


@contextmanager
def explained_os_errors(path: Path) -> Iterator[None]:
    """Turn a full disk, a missing permission and the like, met while writing ``path``, into one message."""
    try:
        yield
    except OSError as error:
        raise _cannot_write(path, error.errno, str(error.strerror or error)) from None
    except Exception as error:  # safetensors wraps the system's error in its own
        if type(error).__name__ != "SafetensorError":
            raise
        found = re.search(r"os error (\d+)", str(error))
        number = int(found[1]) if found else None
        raise _cannot_write(path, number, os.strerror(number) if number else str(error)) from None


def _cannot_write(path: Path, number: int | None, message: str) -> RunError:
    if number in _DISK_FULL:
        return RunError(
            f"{path}: the disk is full; nothing was overwritten. Free some space and try again, "
            "with --resume if a training had begun"
        )
    return RunError(f"{path}: cannot be written: {message}")


@contextmanager
def locked_file(path: Path, busy: Callable[[], object]) -> Iterator[None]:
    """Hold a lock, which the system lets go of when the process ends, however it ends.

    While another process has it, ``busy`` is called once: it may raise, else the lock is waited for. The file stays
    behind: who removed it could remove the lock of a third process. Where the file system has no locks, there is none:
    going on is better than not working at all.
    """
    with explained_os_errors(path):
        file = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o666)
    try:
        if not _try_lock(file):
            busy()
            while not _try_lock(file):
                time.sleep(_PAUSE)
        yield
    finally:
        os.close(file)


def _try_lock(file: int) -> bool:
    """Lock an open file; say whether it is ours, or the file system has no locks."""
    try:
        try:
            import fcntl
        except ImportError:  # on Windows
            import msvcrt

            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        else:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno not in _LOCKED
    return True
