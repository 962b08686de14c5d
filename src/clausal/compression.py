"""Compressed files: how each is compressed, by its name, and what reads its content."""

from __future__ import annotations

import bz2
import gzip
import io
from pathlib import Path
from typing import Any, BinaryIO, cast

_COMPRESSIONS = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd", ".zstd": "zstd", ".lz4": "lz4"}
_PIECE = 1 << 20  # bytes that are decompressed at once


def compression_of(path: Path) -> str | None:
    """Return how a file is compressed, by its name: gzip, bz2, zstd, lz4 or None."""
    return _COMPRESSIONS.get(path.suffix.lower())


def bare_name(path: Path) -> str:
    """Return a file's name without the ending of a compression: ``facts.nt`` for ``facts.nt.gz``."""
    return path.name if compression_of(path) is None else path.name[: -len(path.suffix)]


def decompressed(file: BinaryIO, compression: str | None) -> BinaryIO:
    """Return what reads the content of an open file, which is closed with it."""
    match compression:
        case None:
            return file
        case "gzip":
            return cast(BinaryIO, _Closing(gzip.GzipFile(fileobj=file), file))
        case "bz2":
            return cast(BinaryIO, _Closing(bz2.BZ2File(file), file))
        case _:
            return cast(BinaryIO, _Closing(_ArrowStream(file, compression), file))


class _Closing(io.BufferedReader):
    """A buffer around a reader that decompresses a file; closing it closes the file too."""

    def __init__(self, reader: Any, file: BinaryIO) -> None:
        super().__init__(reader, _PIECE)
        self._file = file

    def close(self) -> None:
        try:
            super().close()
        finally:
            self._file.close()


class _ArrowStream(io.RawIOBase):
    """What Python 3.11 cannot decompress and pyarrow can; a file that ends too early is an EOFError."""

    def __init__(self, file: BinaryIO, compression: str) -> None:
        import pyarrow as pa

        self._stream = pa.CompressedInputStream(pa.PythonFile(file, mode="r"), compression)
        self._refused = pa.ArrowException

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            piece = self._stream.read(len(buffer))
        except MemoryError:
            raise
        except (self._refused, OSError) as error:
            raise EOFError(str(error)) if "truncated" in str(error).lower() else OSError(str(error)) from None
        buffer[: len(piece)] = piece
        return len(piece)
