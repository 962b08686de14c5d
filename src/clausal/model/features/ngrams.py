"""Hashed n-grams of texts: words, pairs of words that follow each other, and four letters of a word in a row.

A text is cut at whatever is no letter and no digit, in lower case, and a space stands on both sides of each word, so
that its beginning and its end count as letters. Each n-gram is hashed to one of some buckets, which are the features.
All texts are hashed together by a few operations on arrays of code points.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_LETTERS = 4
_LONGEST_WORD = 64  # letters that count
_WORD, _PAIR, _PIECE = (np.uint64(number) for number in (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9))
_POWERS = np.cumprod(np.full(_LONGEST_WORD, 0x100000001B3, np.uint64))
_SPACE = 32

Hashes = NDArray[np.uint64]


class Grams(NamedTuple):
    """The buckets of texts: those of text i are columns[starts[i] : starts[i + 1]], sorted, each once."""

    starts: NDArray[np.int64]
    columns: NDArray[np.int64]

    def folded(self, buckets: int) -> Grams:
        """Return the same texts by fewer buckets, which divide those that they have."""
        texts = len(self.starts) - 1
        return _grams(np.repeat(np.arange(texts), np.diff(self.starts)), self.columns, texts, buckets)


def hashed_ngrams(texts: Sequence[str], buckets: int) -> Grams:
    """Return the buckets that the n-grams of each text fall into."""
    letters, owner = _letters(texts)
    inside = letters != _SPACE
    # Where words begin and end; the first and the last letter of all are spaces.
    begins = np.flatnonzero(inside[1:] & ~inside[:-1]) + 1
    ends = np.flatnonzero(inside[:-1] & ~inside[1:]) + 1
    words, of_word = _word_hashes(letters, begins, ends), owner[begins]
    follows = of_word[1:] == of_word[:-1]
    pairs = (words[:-1] * _PAIR + words[1:])[follows]
    pieces, of_piece = _pieces(letters, inside, owner)
    hashes = np.concatenate([_mixed(words, _WORD), _mixed(pairs, _PAIR), _mixed(pieces, _PIECE)])
    texts_of = np.concatenate([of_word, of_word[1:][follows], of_piece])
    return _grams(texts_of, (hashes % np.uint64(buckets)).astype(np.int64), len(texts), buckets)


def _grams(texts_of: NDArray[np.int64], columns: NDArray[np.int64], texts: int, buckets: int) -> Grams:
    keys = np.unique(texts_of * np.int64(buckets) + columns % buckets)
    starts = np.searchsorted(keys, np.arange(texts + 1, dtype=np.int64) * buckets)
    return Grams(starts.astype(np.int64), keys % buckets)


def _letters(texts: Sequence[str]) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """Return the code points of all texts, a space for whatever is no letter or digit, and whose text each is of."""
    plain = [f" {text.lower()} " for text in texts]
    points = np.frombuffer("".join(plain).encode("utf-32-le", "replace"), np.uint32)
    shown_as = np.full(int(points.max(initial=0)) + 1, _SPACE, np.uint32)
    for point in np.flatnonzero(np.bincount(points)).tolist():
        if chr(point).isalnum():
            shown_as[point] = point
    return shown_as[points], np.repeat(np.arange(len(plain), dtype=np.int64), [len(text) for text in plain])


def _word_hashes(letters: NDArray[np.uint32], begins: NDArray[np.intp], ends: NDArray[np.intp]) -> Hashes:
    """Return a hash of each word, by its first letters."""
    if not len(begins):
        return np.empty(0, np.uint64)
    lengths = np.minimum(ends - begins, _LONGEST_WORD)
    which = np.repeat(np.arange(len(begins)), lengths)
    place = np.arange(len(which)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    weighted = letters[begins[which] + place].astype(np.uint64) * _POWERS[place]
    return np.add.reduceat(weighted, np.cumsum(lengths) - lengths)


def _pieces(
    letters: NDArray[np.uint32], inside: NDArray[np.bool_], owner: NDArray[np.int64]
) -> tuple[Hashes, NDArray[np.int64]]:
    """Return a hash of each four letters in a row that are of one word, and whose text they are of."""
    count = len(letters) - _LETTERS + 1
    if count < 1:
        return np.empty(0, np.uint64), np.empty(0, np.int64)
    within = inside[1 : count + 1] & inside[2 : count + 2]
    starts = np.flatnonzero(within)
    hashes = np.zeros(len(starts), np.uint64)
    for place in range(_LETTERS):
        hashes = hashes * _POWERS[0] + letters[starts + place]
    return hashes, owner[starts + 1]


def _mixed(hashes: Hashes, salt: np.uint64) -> Hashes:
    """Spread hashes over all bits, each kind of n-gram in its own way."""
    mixed = (hashes ^ (hashes >> np.uint64(29))) * salt
    return (mixed ^ (mixed >> np.uint64(32))) * _WORD >> np.uint64(20)
