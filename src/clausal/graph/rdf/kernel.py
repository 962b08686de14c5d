"""Usual lines of N-Triples and N-Quads, found by one pass over the bytes; this module imports Numba.

A line is usual if it is ``SUBJECT PREDICATE OBJECT [GRAPH] .`` with blanks between the terms, and the terms have no
escapes and nothing else that a parser would change or could refuse. All other lines are left to the parser.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

EMPTY, UNUSUAL, USUAL = 0, 1, 2
IRI, BLANK, TEXT, LANGUAGE, DATATYPE = 0, 1, 2, 3, 4
SUBJECT, PREDICATE, OBJECT, SUFFIX, GRAPH = 0, 1, 2, 3, 4
"""Columns of the places; a suffix is the language or the data type of a literal."""

_LETTER, _DIGIT, _SCHEME, _IRI, _LABEL, _VALUE = 1, 2, 4, 8, 16, 32


def _classes() -> NDArray[np.uint8]:
    """Return which classes each byte belongs to, as bits."""
    classes = np.zeros(256, dtype=np.uint8)
    for byte in range(256):
        character = chr(byte)
        ascii_letter = byte < 128 and character.isalpha()
        digit = byte < 128 and character.isdigit()
        if ascii_letter:
            classes[byte] |= _LETTER
        if digit:
            classes[byte] |= _DIGIT
        if ascii_letter or digit or character in "+-.":
            classes[byte] |= _SCHEME
        if byte > 32 and byte != 127 and character not in '<>"{}|^`\\':
            classes[byte] |= _IRI
        if ascii_letter or digit or character in "_-":
            classes[byte] |= _LABEL
        if byte >= 32 and byte != 127 and character not in '"\\':
            classes[byte] |= _VALUE
    return classes


_CLASSES = _classes()


def _compiled(function: Any) -> Any:
    return njit(cache=True, nogil=True, error_model="numpy")(function)


@_compiled
def _after_iri(text, at, classes):  # type: ignore[no-untyped-def]
    """Return the place after the whole IRI whose bracket is at ``at``, or -1."""
    place = at + 1
    if not classes[text[place]] & 1:
        return -1
    while classes[text[place]] & 4:
        place += 1
    if text[place] != 58:  # a colon
        return -1
    while classes[text[place]] & 8:
        place += 1
    return place + 1 if text[place] == 62 else -1


@_compiled
def _after_blank_node(text, at, classes):  # type: ignore[no-untyped-def]
    """Return the place after the blank node that begins at ``at``, or -1."""
    place = at + 2
    if text[at + 1] != 58 or not classes[text[place]] & 3:
        return -1
    while classes[text[place]] & 16:
        place += 1
    return place if text[place] == 32 or text[place] == 9 else -1


@_compiled
def _after_language(text, at, classes):  # type: ignore[no-untyped-def]
    """Return the place after the language that begins at ``at``, such as ``en-gb``, or -1."""
    place = at
    length = 0
    first = True
    while True:
        byte = text[place]
        if 97 <= byte <= 122 or (not first and classes[byte] & 2):
            length += 1
        elif length < (2 if first else 1) or length > (3 if first else 8):
            return -1
        elif byte == 45:
            length = 0
            first = False
        else:
            return place if byte == 32 or byte == 9 or byte == 46 else -1
        place += 1


@_compiled
def _after_blanks(text, at):  # type: ignore[no-untyped-def]
    while text[at] == 32 or text[at] == 9:
        at += 1
    return at


@_compiled
def _scan(text, lines, quads, classes):  # type: ignore[no-untyped-def]
    states = np.zeros(lines, dtype=np.uint8)
    kinds = np.zeros((lines, 2), dtype=np.uint8)
    places = np.zeros((lines, 5, 2), dtype=np.int32)
    starts = np.zeros(lines + 1, dtype=np.int32)
    at = 0
    for line in range(lines):
        starts[line] = at
        at = _after_blanks(text, at)
        if text[at] == 35:  # a comment
            while text[at] != 10 and text[at] != 13:
                at += 1
        if text[at] == 13 and text[at + 1] == 10:
            at += 1
        if text[at] == 10:
            at += 1
            continue
        end = _scan_line(text, at, line, quads, classes, kinds, places)
        states[line] = 2 if end >= 0 else 1
        at = end if end >= 0 else at
        while text[at] != 10:
            at += 1
        at += 1
    starts[lines] = at
    return states, kinds, places, starts


@_compiled
def _scan_line(text, at, line, quads, classes, kinds, places):  # type: ignore[no-untyped-def]
    """Return the place of the line's end, or -1 where the line is not usual."""
    for term in range(3):
        end = -1
        inside = 0
        byte = text[at]
        if byte == 60:
            end = _after_iri(text, at, classes)
            inside = 1
            kind = 0
        elif byte == 95 and term != 1:
            end = _after_blank_node(text, at, classes)
            kind = 1
        elif byte == 34 and term == 2:
            end = at + 1
            while classes[text[end]] & 32:
                end += 1
            if text[end] != 34:
                return -1
            end += 1
            inside = 1
            kind = 2
        if end < 0:
            return -1
        places[line, term, 0] = at + inside
        places[line, term, 1] = end - inside
        if term != 1:
            kinds[line, term // 2] = kind
        at = end
        if term < 2:
            if text[at] != 32 and text[at] != 9:
                return -1
            at = _after_blanks(text, at)
    if kinds[line, 1] == 2:
        if text[at] == 64:
            end = _after_language(text, at + 1, classes)
            if end < 0:
                return -1
            kinds[line, 1] = 3
            places[line, 3, 0] = at + 1
            places[line, 3, 1] = end
            at = end
        elif text[at] == 94:
            if text[at + 1] != 94 or text[at + 2] != 60:
                return -1
            end = _after_iri(text, at + 2, classes)
            if end < 0:
                return -1
            kinds[line, 1] = 4
            places[line, 3, 0] = at + 3
            places[line, 3, 1] = end - 1
            at = end
    at = _after_blanks(text, at)
    if quads and text[at] != 46:
        if text[at - 1] != 32 and text[at - 1] != 9:
            return -1
        if text[at] == 60:
            end = _after_iri(text, at, classes)
        elif text[at] == 95:
            end = _after_blank_node(text, at, classes)
        else:
            return -1
        if end < 0:
            return -1
        places[line, 4, 0] = at
        places[line, 4, 1] = end
        at = _after_blanks(text, end)
    if text[at] != 46:
        return -1
    at = _after_blanks(text, at + 1)
    if text[at] == 13:
        at += 1
    return at if text[at] == 10 else -1


@_compiled
def _gather(text, places, ends, content):  # type: ignore[no-untyped-def]
    for row in range(len(places)):
        source = places[row, 0]
        target = ends[row]
        for offset in range(ends[row + 1] - target):
            content[target + offset] = text[source + offset]


def scan_lines(
    text: NDArray[np.uint8], quads: bool
) -> tuple[NDArray[np.uint8], NDArray[np.uint8], NDArray[np.int32], NDArray[np.int32]]:
    """Find the terms of usual lines in text that ends in a line feed.

    Returns the state of each line [lines], the kinds of its subject and object [lines, 2], where its terms begin and
    end [lines, 5, 2], and where each line begins [lines + 1].
    """
    states, kinds, places, starts = _scan(text, int(np.count_nonzero(text == 10)), quads, _CLASSES)
    return states, kinds, places, starts


def gather(text: NDArray[np.uint8], places: NDArray[np.int32]) -> Any:
    """Return the pieces of text at ``places`` [pieces, 2] as a pyarrow array of text."""
    import pyarrow as pa

    ends = np.zeros(len(places) + 1, dtype=np.int32)
    np.cumsum(places[:, 1] - places[:, 0], out=ends[1:])
    content = np.empty(int(ends[-1]), dtype=np.uint8)
    _gather(text, places, ends, content)
    return pa.Array.from_buffers(pa.string(), len(places), [None, pa.py_buffer(ends), pa.py_buffer(content)])
