"""Kernels that count paths: for bodies that begin with one label, the pairs they join and the labels between these.

A body and the same body walked backwards are one: only the first of both, by their labels, is counted. The labels from
x to z that are found beside a path from x to z are its heads, and those below ``relations`` are heads of the body as it
is; the others are heads of the body walked backwards.
"""

from __future__ import annotations

from typing import Any

from clausal.logic.mining.compiling import kernel, part
from clausal.logic.mining.tally import contents, grown, new_tally, slot_of


@kernel
def count_one(relations: int, run_start: Any, run_labels: Any) -> Any:
    """Count for each body label b and relation h the pairs that both join; the keys are b · relations + h."""
    keys, counts = new_tally(1024)
    used = 0
    for run in range(len(run_start) - 1):
        for one in range(run_start[run], run_start[run + 1]):
            if run_labels[one] >= relations:
                continue
            for other in range(run_start[run], run_start[run + 1]):
                if other != one:
                    key = run_labels[other] * relations + run_labels[one]
                    slot = slot_of(keys, key)
                    if keys[slot] < 0:
                        keys[slot] = key
                        used += 1
                    counts[slot] += 1
                    if 2 * used > len(keys):
                        keys, counts = grown(keys, counts)
    return contents(keys, counts)


@part
def inverse(label: int, relations: int) -> int:
    """Return the label of the same relation walked the other way."""
    return label + relations if label < relations else label - relations


@kernel
def count_two(
    relations: int,
    targets: Any,
    group_source: Any,
    group_label: Any,
    group_start: Any,
    first_group: Any,
    run_target: Any,
    run_start: Any,
    run_labels: Any,
    first_run: Any,
    own: Any,
    stamp: Any,
    near_stamp: Any,
    near_run: Any,
    ticks: Any,
    last: Any,
    touched: Any,
    chained: Any,
    before: Any,
) -> Any:
    """Count bodies (b1, b2) from the groups ``own`` of one label b1; what follows ``own`` is space to work in.

    Returns the b2 with their pairs, and the keys b2 · labels + h with their support.
    """
    labels = 2 * relations
    b1 = group_label[own[0]]
    pair_keys, pair_counts = new_tally(64)
    keys, counts = new_tally(64)
    pair_used, used = 0, 0
    for group in own:
        x = group_source[group]
        ticks[1] += 1
        for run in range(first_run[x], first_run[x + 1]):
            near_stamp[run_target[run]] = ticks[1]
            near_run[run_target[run]] = run
        labels_here, chain = 0, 0
        for at in range(group_start[group], group_start[group + 1]):
            y = targets[at]
            for second in range(first_group[y], first_group[y + 1]):
                b2 = group_label[second]
                if b1 <= inverse(b2, relations):
                    if last[b2] < 0:
                        touched[labels_here] = b2
                        labels_here += 1
                    chained[chain], before[chain] = second, last[b2]
                    last[b2] = chain
                    chain += 1
        for place in range(labels_here):
            b2 = touched[place]
            itself = b1 == inverse(b2, relations)
            ticks[0] += 1
            tick = ticks[0]
            link, found = last[b2], 0
            while link >= 0:
                second = chained[link]
                link = before[link]
                for at in range(group_start[second], group_start[second + 1]):
                    z = targets[at]
                    if z == x or stamp[z] == tick:
                        continue
                    stamp[z] = tick
                    found += 1
                    if near_stamp[z] == ticks[1]:
                        run = near_run[z]
                        for edge in range(run_start[run], run_start[run + 1]):
                            h = run_labels[edge]
                            if itself and h >= relations:
                                break
                            key = b2 * labels + h
                            slot = slot_of(keys, key)
                            if keys[slot] < 0:
                                keys[slot] = key
                                used += 1
                            counts[slot] += 1
                            if 2 * used > len(keys):
                                keys, counts = grown(keys, counts)
            last[b2] = -1
            if found:
                slot = slot_of(pair_keys, b2)
                if pair_keys[slot] < 0:
                    pair_keys[slot] = b2
                    pair_used += 1
                pair_counts[slot] += found
                if 2 * pair_used > len(pair_keys):
                    pair_keys, pair_counts = grown(pair_keys, pair_counts)
    body_keys, pairs = contents(pair_keys, pair_counts)
    support_keys, support = contents(keys, counts)
    return body_keys, pairs, support_keys, support


@kernel
def count_three(
    relations: int,
    targets: Any,
    group_source: Any,
    group_label: Any,
    group_start: Any,
    first_group: Any,
    run_target: Any,
    run_start: Any,
    run_labels: Any,
    first_run: Any,
    own: Any,
    stamp: Any,
    near_stamp: Any,
    near_run: Any,
    ticks: Any,
    last2: Any,
    touched2: Any,
    chained2: Any,
    before2: Any,
    last3: Any,
    touched3: Any,
    chained3: Any,
    before3: Any,
    only: Any,
    seconds: Any,
) -> Any:
    """Count bodies (b1, b2, b3) from the groups ``own`` of one label b1; what follows ``own`` is space to work in.

    ``only`` is the y before w if there is only one, for each w of ``seconds``.

    Returns the keys b2 · labels + b3 with their pairs, and the keys (b2 · labels + b3) · labels + h with their support.
    """
    labels = 2 * relations
    b1 = group_label[own[0]]
    pair_keys, pair_counts = new_tally(64)
    keys, counts = new_tally(64)
    pair_used, used = 0, 0
    for group in own:
        x = group_source[group]
        ticks[1] += 1
        for run in range(first_run[x], first_run[x + 1]):
            near_stamp[run_target[run]] = ticks[1]
            near_run[run_target[run]] = run
        labels_here, chain = 0, 0
        for at in range(group_start[group], group_start[group + 1]):
            y = targets[at]
            for second in range(first_group[y], first_group[y + 1]):
                b2 = group_label[second]
                if last2[b2] < 0:
                    touched2[labels_here] = b2
                    labels_here += 1
                chained2[chain], before2[chain] = second, last2[b2]
                last2[b2] = chain
                chain += 1
        for place in range(labels_here):
            b2 = touched2[place]
            ticks[0] += 1
            tick = ticks[0]
            link, reached = last2[b2], 0
            last2[b2] = -1
            while link >= 0:
                second = chained2[link]
                link = before2[link]
                for at in range(group_start[second], group_start[second + 1]):
                    w = targets[at]
                    if w == x:
                        continue
                    if stamp[w] == tick:
                        only[w] = -1
                    else:
                        stamp[w] = tick
                        only[w] = group_source[second]
                        seconds[reached] = w
                        reached += 1
            labels_there, chain3 = 0, 0
            for at in range(reached):
                w = seconds[at]
                for third in range(first_group[w], first_group[w + 1]):
                    b3 = group_label[third]
                    end = inverse(b3, relations)
                    if b1 < end or (b1 == end and b2 <= inverse(b2, relations)):
                        if last3[b3] < 0:
                            touched3[labels_there] = b3
                            labels_there += 1
                        chained3[chain3], before3[chain3] = third, last3[b3]
                        last3[b3] = chain3
                        chain3 += 1
            for there in range(labels_there):
                b3 = touched3[there]
                ticks[0] += 1
                tick = ticks[0]
                link, found = last3[b3], 0
                last3[b3] = -1
                while link >= 0:
                    third = chained3[link]
                    link = before3[link]
                    y = only[group_source[third]]
                    for at in range(group_start[third], group_start[third + 1]):
                        z = targets[at]
                        if z in (x, y) or stamp[z] == tick:
                            continue
                        stamp[z] = tick
                        found += 1
                        if near_stamp[z] == ticks[1]:
                            run = near_run[z]
                            for edge in range(run_start[run], run_start[run + 1]):
                                key = (b2 * labels + b3) * labels + run_labels[edge]
                                slot = slot_of(keys, key)
                                if keys[slot] < 0:
                                    keys[slot] = key
                                    used += 1
                                counts[slot] += 1
                                if 2 * used > len(keys):
                                    keys, counts = grown(keys, counts)
                if found:
                    key = b2 * labels + b3
                    slot = slot_of(pair_keys, key)
                    if pair_keys[slot] < 0:
                        pair_keys[slot] = key
                        pair_used += 1
                    pair_counts[slot] += found
                    if 2 * pair_used > len(pair_keys):
                        pair_keys, pair_counts = grown(pair_keys, pair_counts)
    body_keys, pairs = contents(pair_keys, pair_counts)
    support_keys, support = contents(keys, counts)
    return body_keys, pairs, support_keys, support
