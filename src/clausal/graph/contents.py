"""What a file that was given as text really holds, by its first bytes: a workbook, a database, RDF, a web page."""

from __future__ import annotations

import re
from pathlib import Path

from clausal.errors import InputError

_BEGINNINGS = (
    (b"PK\x03\x04", "a workbook or another zip file; in Excel save it as 'CSV UTF-8', else unpack it"),
    (b"\xd0\xcf\x11\xe0", "an old Excel workbook; save it as 'CSV UTF-8'"),
    (b"SQLite format 3\x00", "a database of SQLite; give it as sqlite:{path}"),
    (b"PAR1", "a Parquet file; give it the ending .parquet"),
    (b"ARROW1", "an Arrow file; give it the ending .arrow"),
    (b"\x1f\x8b", "compressed by gzip; give it the ending .gz after its own"),
    (b"BZh", "compressed by bzip2; give it the ending .bz2 after its own"),
    (b"\x28\xb5\x2f\xfd", "compressed by zstd; give it the ending .zst after its own"),
    (b"\x04\x22\x4d\x18", "compressed by lz4; give it the ending .lz4 after its own"),
    (b"%PDF", "a PDF file; facts are read from tables and RDF"),
)
_DUCKDB = slice(8, 12)
_TEXTS = (
    (rb"\s*<(!doctype html|html)", "a web page; was the file downloaded from a page that shows it?"),
    (rb"\s*@?(prefix\s+[^\s:]*:|base)\s*<", "Turtle; give it the ending .ttl"),
    (rb"\s*<\?xml|\s*<rdf:RDF", "XML; if it is RDF, give it the ending .rdf"),
    (
        rb"\s*(#[^\n]*\n\s*)*<[^<>\s]+>\s+<[^<>\s]+>\s+(<[^<>\s]+>|\"[^\n]*|_:\S+)\s*\.[ \t]*(\r?\n|$)",
        "N-Triples; give it the ending .nt",
    ),
    (rb"version https://git-lfs", "a pointer of Git LFS, not the file itself; fetch it by 'git lfs pull'"),
)


def refuse_other_formats(path: Path, sample: bytes) -> None:
    """Refuse what is no table of text, with what to do about it."""
    binary = b"\x00" in sample[:1000]  # PAR1 is a gene too
    kind = next((words for beginning, words in _BEGINNINGS if binary and sample.startswith(beginning)), None)
    if binary and sample[_DUCKDB] == b"DUCK":
        kind = "a database of DuckDB; give it as duckdb:{path}"
    if kind is None:
        text = sample.removeprefix(b"\xef\xbb\xbf")
        kind = next((words for pattern, words in _TEXTS if re.match(pattern, text, re.IGNORECASE)), None)
    if kind is not None:
        raise InputError(f"{path}: this is {kind.format(path=path)}")


def holds_json_objects(sample: bytes) -> bool:
    """Say whether a text begins as an object of JSON."""
    return re.match(rb'(\xef\xbb\xbf)?\s*\{\s*"[^"]*"\s*:', sample) is not None
