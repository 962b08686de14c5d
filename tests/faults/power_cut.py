"""What is on the disk when the power goes: what was synced, and of the rest nothing.

A file has the content of its last sync, and a folder the names of its last sync. Real file systems keep more, in an
order of their own; what survives here survives there. With ``names=True`` all names are kept, as most file systems soon
do, and only the contents are lost: a rename before a sync then leaves an empty file in the place of a good one.
"""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path

from faults.watching import Step

_Key = tuple[int, int]


class Disk:
    """Follows the steps of a command below a folder, and can lose what was not synced."""

    def __init__(self, root: Path) -> None:
        """Take all that is there as synced."""
        self._root = root
        self._contents: dict[_Key, bytes] = {}
        self._names: dict[_Key, dict[str, tuple[_Key, bool]]] = {}
        self._held: list[int] = []  # open files, whose numbers the system does not give to others
        for folder, _, files in os.walk(root):
            self._sync(Path(folder))
            for name in files:
                self._sync(Path(folder, name))

    def follow(self, step: Step) -> None:
        """Take note of a step that is about to be done."""
        if step.call in ("fsync", "fdatasync"):
            self._sync(Path(f"/proc/{step.thread}/fd/{step.file}"))

    def _sync(self, path: Path) -> None:
        held = os.open(path, os.O_RDONLY)
        self._held.append(held)
        about = os.fstat(held)
        key = (about.st_dev, about.st_ino)
        if stat.S_ISDIR(about.st_mode):
            self._names[key] = _entries(held)
        else:
            self._contents[key] = os.pread(held, about.st_size, 0)

    def cut(self, *, names: bool) -> None:
        """Make the folder what a power cut leaves of it, and let go of it."""
        if names:
            for folder, _, files in os.walk(self._root):
                for path in (Path(folder, name) for name in files):
                    about = path.lstat()
                    path.write_bytes(self._contents.get((about.st_dev, about.st_ino), b""))
        else:
            about = self._root.stat()
            left = self._root.with_name(f"{self._root.name}-left")
            self._restore((about.st_dev, about.st_ino), left)
            shutil.rmtree(self._root)
            left.rename(self._root)
        self.close()

    def _restore(self, folder: _Key, target: Path) -> None:
        target.mkdir()
        for name, (key, is_folder) in self._names.get(folder, {}).items():
            if is_folder:
                self._restore(key, target / name)
            else:
                (target / name).write_bytes(self._contents.get(key, b""))

    def close(self) -> None:
        """Let go of the files."""
        for held in self._held:
            os.close(held)
        self._held.clear()


def _entries(folder: int) -> dict[str, tuple[_Key, bool]]:
    with os.scandir(folder) as entries:
        found = {}
        for entry in entries:
            about = entry.stat(follow_symlinks=False)
            found[entry.name] = ((about.st_dev, about.st_ino), stat.S_ISDIR(about.st_mode))
        return found
