"""The candidates of a list, drawn by a kernel: the answer, the most likely others, and some of the rest."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from clausal.fusion.evidence import FEATURES, Evidence, vote_features
from clausal.fusion.lists import Ids, Lists
from clausal.logic.mining.compiling import in_threads, kernel, part

LIKELY = 100
"""Candidates of a list that the model finds most likely, and as many that have most votes."""
OTHERS = 200
"""Candidates of a list that are drawn from all others; up to twice as many are taken as they are."""
_MOST = 1 + 2 * LIKELY + 2 * OTHERS
_AT_ONCE = 64


def draw_lists(
    scores: NDArray[np.float32],
    evidence: Evidence,
    asked: Ids,
    labels: Ids,
    answers: Ids,
    hidden: tuple[Ids, Ids],
    numbers: Ids,
    places: Ids,
) -> Lists:
    """Make a list for each question (asked, label, ?), which has this answer and the model's scores [questions, E].

    ``hidden`` entities are other answers, no candidates; ``numbers`` seed the draws; ``places`` say which fact a
    question comes from.
    """
    votes = evidence.voting.votes(asked, labels)
    values = vote_features(votes)
    distinct, label_row = np.unique(labels, return_inverse=True)
    frequency = np.stack([evidence.frequency(int(label)) for label in distinct])
    chosen = np.empty((len(asked), _MOST, len(FEATURES)), np.float32)
    stands_for = np.ones((len(asked), _MOST), np.float32)
    sizes = np.empty(len(asked), np.int64)

    def work(start: int) -> None:
        last = min(start + _AT_ONCE, len(asked))
        _draw(
            *(scores, votes.starts, votes.answers, values, frequency, label_row.reshape(-1), evidence.edges.pairs),
            *(asked, answers, *hidden, numbers, start, last, chosen, stands_for, sizes),
        )

    for _ in in_threads(work, range(0, len(asked), _AT_ONCE)):
        pass
    kept = np.arange(_MOST) < sizes[:, None]
    starts = np.append(0, np.cumsum(sizes))
    return Lists(labels, places, starts, chosen[kept], stands_for[kept], 2 * evidence.relations)


@part
def _place(values, wanted, low, high):  # type: ignore[no-untyped-def]
    """Return where ``wanted`` is among sorted values, or −1."""
    end = high
    while low < high:
        middle = (low + high) // 2
        if values[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low if low < end and values[low] == wanted else -1


@kernel
def _draw(  # type: ignore[no-untyped-def]
    scores, vote_starts, voted, votes, frequency, label_row, pairs,
    asked, answers, hidden_starts, hidden, numbers, first, last, chosen, stands_for, sizes,
):  # fmt: skip
    entities = scores.shape[1]
    kinds = votes.shape[1]
    state = np.empty(entities, np.int8)  # 0 may be drawn, 1 no candidate, 2 in the list
    candidates = np.empty(chosen.shape[1], np.int64)
    for row in range(first, last):
        state[:] = 0
        open_scores = scores[row].copy()
        for at in range(hidden_starts[row], hidden_starts[row + 1]):
            state[hidden[at]] = 1
            open_scores[hidden[at]] = -np.inf
        answer = answers[row]
        state[answer] = 2
        open_scores[answer] = -np.inf
        candidates[0] = answer
        size = 1
        # What the model finds most likely.
        bound = -np.inf
        if entities > LIKELY:
            bound = np.partition(open_scores, entities - LIKELY)[entities - LIKELY]
        for entity in range(entities):
            if state[entity] == 0 and open_scores[entity] >= bound and size <= LIKELY:
                state[entity] = 2
                candidates[size] = entity
                size += 1
        # What has most votes.
        begin, end = vote_starts[row], vote_starts[row + 1]
        strength = np.zeros(end - begin)
        for place in range(begin, end):
            for k in range(kinds):
                strength[place - begin] += votes[place, k]
        bound = -np.inf
        if end - begin > LIKELY:
            bound = np.partition(strength, end - begin - LIKELY)[end - begin - LIKELY]
        for place in range(begin, end):
            if state[voted[place]] == 0 and strength[place - begin] >= bound and size <= 2 * LIKELY:
                state[voted[place]] = 2
                candidates[size] = voted[place]
                size += 1
        # Some of the others.
        free = 0
        for entity in range(entities):
            free += state[entity] == 0
        likely = size
        if free <= 2 * OTHERS:
            for entity in range(entities):
                if state[entity] == 0:
                    candidates[size] = entity
                    size += 1
        else:
            np.random.seed(numbers[row])
            while size < likely + OTHERS:
                entity = np.random.randint(entities)
                if state[entity] == 0:
                    state[entity] = 2
                    candidates[size] = entity
                    stands_for[row, size] = free / OTHERS
                    size += 1
        sizes[row] = size
        for at in range(size):
            entity = candidates[at]
            values = chosen[row, at]
            values[0] = scores[row, entity]
            place = _place(voted, entity, begin, end)
            for k in range(kinds):
                values[1 + k] = votes[place, k] if place >= 0 else 0.0
            often = frequency[label_row[row], entity]
            values[1 + kinds] = often > 0
            values[2 + kinds] = often
            values[3 + kinds] = _place(pairs, asked[row] * entities + entity, 0, len(pairs)) >= 0
