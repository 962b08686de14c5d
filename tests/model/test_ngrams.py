"""Hashed n-grams: those that a plain loop over words and letters finds, whatever the text."""

import re
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clausal.model.features.ngrams import hashed_ngrams

BUCKETS = 1 << 40  # so many that no two n-grams of a test fall into one


def plain_ngrams(text):
    """The n-grams of a text as they are described: words, pairs of words, four letters of a word with its ends."""
    letters = "".join(letter if letter.isalnum() else " " for letter in text.lower())
    words = letters.split()
    found = {("word", word[:64]) for word in words} | {("pair", one[:64], other[:64]) for one, other in pairwise(words)}
    for word in words:
        ended = f" {word} "
        found |= {("piece", ended[place : place + 4]) for place in range(len(ended) - 3)}
    return found


@given(st.lists(st.text(max_size=40), max_size=5))
def test_there_are_as_many_as_a_loop_finds(texts):
    grams = hashed_ngrams(texts, BUCKETS)
    counts = np.diff(grams.starts).tolist()
    assert counts == [len(plain_ngrams(text)) for text in texts]


@given(st.text(max_size=30), st.text(max_size=30))
def test_texts_share_buckets_where_they_share_ngrams(one, other):
    grams = hashed_ngrams([one, other], BUCKETS)
    first, second = (set(grams.columns[grams.starts[i] : grams.starts[i + 1]].tolist()) for i in (0, 1))
    assert len(first & second) == len(plain_ngrams(one) & plain_ngrams(other))


@pytest.mark.parametrize(
    "text", ["", " ", "...", "dog", "Dog!", "chien, perro", "собака", "狗", "a\ud800b", "x" * 100_000]
)
def test_any_text_has_buckets_within_their_number(text):
    grams = hashed_ngrams([text], 16)
    assert ((grams.columns >= 0) & (grams.columns < 16)).all()
    assert bool(len(grams.columns)) == bool(re.search(r"\w", text.replace("\ud800", " ")))


def test_the_hash_never_changes():
    """A stored model reads texts of tomorrow by these buckets."""
    expected = [
        2122,
        2334,
        3548,
        3618,
        3681,
        4411,
        8355,
        8505,
        15933,
        15988,
        16087,
        16778,
        18569,
        20105,
        20488,
        20581,
        20636,
        22854,
        24227,
        27218,
    ]
    assert hashed_ngrams(["a small domestic dog"], 32768).columns.tolist() == expected
    assert hashed_ngrams(["A SMALL, domestic dog."], 32768).columns.tolist() == expected


@given(st.lists(st.text(max_size=40), max_size=5))
def test_fewer_buckets_can_be_had_without_hashing_again(texts):
    again, folded = hashed_ngrams(texts, 64), hashed_ngrams(texts, 1 << 17).folded(64)
    np.testing.assert_array_equal(folded.starts, again.starts)
    np.testing.assert_array_equal(folded.columns, again.columns)
