"""Known data sets on this machine: in the user's folder, else in the cache, which downloads what it lacks.

A file is taken from the first publisher that delivers it, out of its archive if need be, and is put in place when its
hash is the expected one. One process at a time fills the cache of a data set; others wait for it.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from gzip import BadGzipFile
from pathlib import Path

from clausal.errors import InputError, RunError, did_you_mean
from clausal.files import explained_os_errors, locked_file, write_bytes
from clausal.graph.catalogue import DATASETS, DataFile, DataSet, Source
from clausal.graph.download import DownloadError, download
from clausal.observer import Observer

_DOWNLOADS = ".downloads"
_MOST_MEMBER_BYTES = 1 << 30
_BAD_ARCHIVE = (tarfile.TarError, zipfile.BadZipFile, BadGzipFile, LookupError, EOFError, zlib.error)


def dataset_folder(name: str, observer: Observer | None = None) -> Path:
    """Return the folder that holds a data set's files; those that are nowhere here are downloaded."""
    dataset = _dataset(name)
    own = _own_folder(dataset)
    if own is not None and any(own.glob("train*")):
        return own
    return _in_cache(dataset, dataset.files, observer)


def dataset_clauses(name: str, simple: bool = False, observer: Observer | None = None) -> Path | None:
    """Return the clause file that comes with a data set, or None; ``simple``: only one-atom bodies."""
    dataset = _dataset(name)
    wanted = dataset.simple_clauses if simple else dataset.clauses
    if wanted is None:
        return None
    own = _own_folder(dataset)
    if own is not None and (own / wanted).is_file():
        return own / wanted
    file = next(file for file in dataset.files if file.name == wanted)
    return _in_cache(dataset, (file,), observer) / wanted


def cache_folder() -> Path:
    """Return the folder that downloads are kept in: ``$XDG_CACHE_HOME/clausal`` or ``~/.cache/clausal``."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "clausal"


def _own_folder(dataset: DataSet) -> Path | None:
    base = os.environ.get("CLAUSAL_DATA")
    if not base:
        return None
    if not Path(base).is_dir():
        raise InputError(f"CLAUSAL_DATA names {base}, which is not a folder; expected one that holds {dataset.name}")
    own = Path(base) / dataset.name
    return own if own.is_dir() else None


def _dataset(name: str) -> DataSet:
    try:
        return DATASETS[name.casefold()]
    except KeyError:
        raise InputError(
            f"unknown data set '{name}'; known are {', '.join(DATASETS)}{did_you_mean(name, DATASETS)}"
        ) from None


def _in_cache(dataset: DataSet, files: tuple[DataFile, ...], observer: Observer | None) -> Path:
    """Return the data set's folder in the cache, which then has these files."""
    folder = cache_folder() / dataset.name

    def missing(files: tuple[DataFile, ...]) -> bool:
        return not all((folder / file.name).is_file() for file in files)

    if missing(files):
        with _alone(folder, observer):
            for file in files:
                obtain(file, folder, observer)
            if not missing(dataset.files):  # the archives have given all their members
                shutil.rmtree(folder / _DOWNLOADS, ignore_errors=True)
    return folder


@contextmanager
def _alone(folder: Path, observer: Observer | None) -> Iterator[None]:
    """Keep other processes from filling the same folder at the same time."""
    lock = folder.with_name(f".{folder.name}.lock")

    def say_why() -> None:
        if observer is not None:
            observer.advanced(f"{folder.name} (waiting for another process)", 0, None, "bytes")

    with _cache_explained(lock):
        lock.parent.mkdir(parents=True, exist_ok=True)
    with locked_file(lock, say_why):
        yield


def obtain(
    file: DataFile, folder: Path, observer: Observer | None = None, *, attempts: int = 3, pause: float = 1.0
) -> Path:
    """Put ``file`` into ``folder`` unless it is there, verified; archives stay in ``folder/.downloads``."""
    target = folder / file.name
    if target.is_file():
        return target
    label, problems = f"{folder.name}/{file.name}", []
    with _cache_explained(target):
        downloads = folder / _DOWNLOADS
        downloads.mkdir(parents=True, exist_ok=True)
        for source in file.sources:
            raw = downloads / hashlib.sha256(source.address.encode()).hexdigest()[:16]
            try:
                if not raw.exists():
                    download(source.address, raw, label=label, observer=observer, attempts=attempts, pause=pause)
                text = _text(raw, source)
            except DownloadError as error:
                problems.append(f"{source.address}: {error}")
                continue
            if hashlib.sha256(text).hexdigest() != file.sha256:
                raw.unlink()
                problems.append(f"{source.address}: not the published content (SHA-256 differs); removed")
                continue
            write_bytes(target, text)
            if source.member is None:
                raw.unlink()
            return target
    tried = "; ".join(problems)
    raise RunError(
        f"cannot download {label}: {tried}. Try again later, or put the files into a folder "
        f"{folder.name} and set CLAUSAL_DATA to the folder that holds it"
    )


@contextmanager
def _cache_explained(path: Path) -> Iterator[None]:
    """Say of a cache that cannot be written that there are other places."""
    try:
        with explained_os_errors(path):
            yield
    except RunError as error:
        raise RunError(f"{error}; XDG_CACHE_HOME or CLAUSAL_DATA can name another folder") from None


def _text(raw: Path, source: Source) -> bytes:
    """Return the text of a download, from its archive if need be, with LF line ends."""
    if source.member is None:
        content = raw.read_bytes()
    else:
        try:
            content = _member(raw, source.member)
        except _BAD_ARCHIVE as error:
            raw.unlink()
            reason = str(error).partition("\n")[0]
            raise DownloadError(f"a damaged or unexpected archive ({reason}); removed") from None
    return content.replace(b"\r\n", b"\n")


def _member(archive: Path, name: str) -> bytes:
    """Return a member's content; it never reaches the disk under the archive's own path."""
    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as zipped:
            found = next((info for info in zipped.infolist() if _same_path(info.filename, name)), None)
            if found is None or found.file_size > _MOST_MEMBER_BYTES:
                raise LookupError(f"no usable member {name}")
            return zipped.read(found)
    with tarfile.open(archive) as tar:
        for member in tar:
            if member.isfile() and _same_path(member.name, name) and member.size <= _MOST_MEMBER_BYTES:
                stream = tar.extractfile(member)
                if stream is not None:
                    return stream.read()
    raise LookupError(f"no usable member {name}")


def _same_path(path: str, name: str) -> bool:
    """Say whether an archive's path is ``name``, perhaps below further folders."""
    return f"/{path}".endswith(f"/{name}")
