"""Damage: strategies that change bytes a little, as bad disks, bad editors and bad people do."""

from __future__ import annotations

import bz2
import gzip
from collections.abc import Sequence

import pyarrow as pa
from hypothesis import strategies as st

TOKENS = [
    b"", b"\x00", b"\n", b"\r\n", b"\r", b"\t", b" ", b",", b";", b"|", b'"', b"'", b"\\", b"(", b")", b"[", b"]", b"{",
    b"}", b"<", b">", b"=", b":", b".", b"-", b"_", b"?", b"%", b"#", b"@", b"&", b"^", b"*", b"0", b"1", b"-1",
    b"1e999",
    b"nan", b"null", b"true", b"\xff", b"\xfe\xff", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\xc3", b"\xe2\x80\xa8",
    b"\xc2\x85", b"\xf0\x9f\x98\x80", b"\\ud800", b"\\u0000", b"_:b", b"<<(", b")>>", b"=>", b"<=>", b"9" * 5000,
    b"(" * 3000, b"[" * 3000, b'{"a":' * 1000, b"x" * 140_000, b"\x80\x04", b"\xff" * 8, b"\x00" * 16,
]  # fmt: skip
"""Bytes that mean something somewhere, and amounts that are too much somewhere."""


_place = st.integers(0, 1000)  # thousandths of the content
_token = st.integers(0, len(TOKENS) - 1).map(TOKENS.__getitem__)
_bytes = st.binary(min_size=1, max_size=4)
_change = st.one_of(
    st.tuples(st.just("insert"), _place, _token | _bytes),
    st.tuples(st.just("write"), _place, _bytes | _token),
    st.tuples(st.sampled_from(["cut", "repeat"]), _place, _place),
    st.tuples(st.sampled_from(["begin", "end"]), _place, st.just(0)),
)
changes = st.lists(_change, min_size=1, max_size=4)


def changed(content: bytes, changes: Sequence[tuple[str, int, bytes | int]]) -> bytes:
    """Apply changes one after the other."""
    for change in changes:
        content = _changed(content, *change)
    return content


def _changed(content: bytes, kind: str, place: int, what: bytes | int) -> bytes:
    at = place * len(content) // 1000
    if kind == "end":
        return content[:at]
    if kind == "begin":
        return content[at:]
    if isinstance(what, bytes):
        return content[:at] + what + content[at if kind == "insert" else at + len(what) :]
    start, stop = sorted((at, what * len(content) // 1000))
    return content[:start] + content[stop:] if kind == "cut" else content[:stop] + content[start:]


@st.composite
def sometimes_damaged(draw: st.DrawFn, contents: st.SearchStrategy[bytes]) -> bytes:
    """Draw contents, every other time with some changes."""
    content = draw(contents)
    return changed(content, draw(changes)) if draw(st.booleans()) else content


def compressed(content: bytes, ending: str) -> bytes:
    """Compress contents as a file's ending promises."""
    match ending:
        case ".gz":
            return gzip.compress(content, mtime=0)
        case ".bz2":
            return bz2.compress(content)
        case ".zst":
            return pa.compress(content, "zstd", asbytes=True)
        case ".lz4":
            buffer = pa.BufferOutputStream()
            with pa.CompressedOutputStream(buffer, "lz4") as stream:
                stream.write(content)
            return buffer.getvalue().to_pybytes()
    return content


compressions = st.sampled_from(["", "", "", "", ".gz", ".bz2", ".zst", ".lz4"])
odd_text = st.text(
    st.one_of(
        st.sampled_from("abcXYZ012 _-.:/#?%&=+*,;|'\"\\()[]{}<>~^!\t\n\r\x00\x0b\x85\u2028\ufeff\u200d💥é中\u0301²"),
        st.characters(exclude_categories=["Cs"]),
    ),
    max_size=12,
)
"""Names nobody expects; without lone surrogates, which no file of UTF-8 holds."""
_LONG = ["x" * 200_000, "(" * 5000, "é" * 5000, "a," * 4000, "\\" * 3001, "9" * 5000]
long_text = st.integers(0, len(_LONG) - 1).map(_LONG.__getitem__)
names = st.one_of(st.sampled_from(["anna", "bob", "carl", "knows", "likes", "p", "q"]), odd_text)
