"""A data set's file from its publishers: mirrors in turn, archive members, line ends, hash, then in place."""

from __future__ import annotations

import hashlib
import tarfile
import zipfile
import zlib
from gzip import BadGzipFile
from pathlib import Path

from clausal.errors import RunError
from clausal.graph.catalogue import DataFile, Source
from clausal.graph.download import DownloadError, Progress, download

_MOST_MEMBER_BYTES = 1 << 30


def obtain(
    file: DataFile, folder: Path, progress: Progress | None = None, *, attempts: int = 3, pause: float = 1.0
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
                    download(source.address, raw, label=label, progress=progress, attempts=attempts, pause=pause)
                text = _text(raw, source)
            except DownloadError as error:
                problems.append(f"{source.address}: {error}")
                continue
            if hashlib.sha256(text).hexdigest() != file.sha256:
                raw.unlink()
                problems.append(f"{source.address}: not the published content (SHA-256 differs); removed")
                continue
            _write(text, target)
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


def _write(text: bytes, target: Path) -> None:
    part = target.with_name(target.name + ".part")
    part.write_bytes(text)
    part.replace(target)
