"""Known data sets on this machine: in the user's folder, else in the cache, which downloads what it lacks.

A data set's file from its publishers: mirrors in turn, archive members, line ends, hash, then in place.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tarfile
import zipfile
import zlib
from gzip import BadGzipFile
from pathlib import Path

from clausal.errors import InputError, RunError, did_you_mean
from clausal.files import write_bytes
from clausal.graph.catalogue import DATASETS, DataFile, DataSet, Source
from clausal.graph.download import DownloadError, download
from clausal.observer import Observer


def dataset_folder(name: str, observer: Observer | None = None) -> Path:
    """Return the folder that holds a data set's files; those that are nowhere here are downloaded."""
    dataset = _dataset(name)
    own = _own_folder(dataset)
    if own is not None and any(own.glob("train*")):
        return own
    cached = cache_folder() / dataset.name
    for file in dataset.files:
        obtain(file, cached, observer)
    shutil.rmtree(cached / ".downloads", ignore_errors=True)  # the archives have given all their members
    return cached


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
    return obtain(file, cache_folder() / dataset.name, observer)


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


_MOST_MEMBER_BYTES = 1 << 30


def obtain(
    file: DataFile, folder: Path, observer: Observer | None = None, *, attempts: int = 3, pause: float = 1.0
) -> Path:
    """Put ``file`` into ``folder`` unless it is there, verified; archives stay in ``folder/.downloads``."""
    target = folder / file.name
    if target.is_file():
        return target
    label, problems = f"{folder.name}/{file.name}", []
    try:
        downloads = folder / ".downloads"
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
    except OSError as error:
        raise RunError(
            f"cannot write {target}: {error.strerror or error}; free the disk, or set XDG_CACHE_HOME or "
            "CLAUSAL_DATA to another folder"
        ) from None
    tried = "; ".join(problems)
    raise RunError(
        f"cannot download {label}: {tried}. Try again later, or put the files into a folder "
        f"{folder.name} and set CLAUSAL_DATA to the folder that holds it"
    )


def _text(raw: Path, source: Source) -> bytes:
    """Return the text of a download, from its archive if need be, with LF line ends."""
    if source.member is None:
        content = raw.read_bytes()
    else:
        try:
            content = _member(raw, source.member)
        except (
            tarfile.TarError,
            zipfile.BadZipFile,
            BadGzipFile,
            LookupError,
            EOFError,
            zlib.error,
        ) as error:
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
