"""The kernel of votes: which answers the rules give to questions, and how sure the rules are."""

from __future__ import annotations

from typing import Any

import numpy as np

from clausal.logic.mining.compiling import kernel, part
from clausal.logic.mining.known_pairs import group_at

PATH, OF_QUESTION, OF_ANSWER = range(3)
"""The kinds of votes: by paths, by attributes of the entity that is asked about, and by attributes of the answer."""
KINDS = 3


@part
def _vote(
    z: int, kind: int, confidence: float, rule: int, tick: int, state: Any, answers: Any, best: Any, doubt: Any,
    top: Any, rules: Any, slot_stamp: Any, slot_of_entity: Any,
) -> None:  # fmt: skip
    """Count one vote for answer z: the best and the sum of its kind, and its place among the best of all kinds."""
    if slot_stamp[z] != tick:
        slot_stamp[z] = tick
        slot_of_entity[z] = state[0]
        answers[state[0]] = z
        best[state[0], :] = 0
        doubt[state[0], :] = 0
        top[state[0], :] = 0
        rules[state[0], :] = -1
        state[0] += 1
    slot = slot_of_entity[z]
    best[slot, kind] = max(best[slot, kind], confidence)
    doubt[slot, kind] -= np.log1p(-confidence)
    place = top.shape[1] - 1
    # Rules of one confidence stay in the order of their numbers.
    if confidence < top[slot, place] or (confidence == top[slot, place] and rule > rules[slot, place] >= 0):
        return
    while place > 0 and (
        confidence > top[slot, place - 1] or (confidence == top[slot, place - 1] and rule < rules[slot, place - 1])
    ):
        top[slot, place] = top[slot, place - 1]
        rules[slot, place] = rules[slot, place - 1]
        place -= 1
    top[slot, place] = confidence
    rules[slot, place] = rule


@kernel
def count_votes(
    question_entity: Any,
    question_label: Any,
    most: int,
    # walks
    targets: Any,
    group_source: Any,
    group_label: Any,
    group_start: Any,
    first_group: Any,
    # path rules by the label that is asked for
    path_starts: Any,
    path_bodies: Any,
    path_confidence: Any,
    path_rule: Any,
    # attributes
    attribute_starts: Any,
    attributes_of: Any,
    first_holder: Any,
    holders: Any,
    label_starts: Any,
    attribute_entity: Any,
    # rules with constants by body, and by head
    body_starts: Any,
    heads: Any,
    body_confidence: Any,
    head_starts: Any,
    bodies: Any,
    head_confidence: Any,
    head_rule: Any,
) -> Any:
    """Answer questions by rules; returns how many answers each has, and for each answer what votes for it."""
    entities, labels = len(first_group) - 1, len(path_starts) - 1
    relations = labels // 2
    paths, constants = len(path_rule) // 2, len(heads)
    slot_stamp, slot_of_entity = np.zeros(entities, np.int64), np.empty(entities, np.int64)
    stamp, only = np.zeros(entities, np.int64), np.empty(entities, np.int64)
    reached = np.empty(entities, np.int64)
    group_of_label = np.full(labels, -1, np.int64)
    state = np.zeros(1, np.int64)
    answers = np.empty(entities, np.int64)
    best, doubt = np.empty((entities, KINDS), np.float32), np.empty((entities, KINDS), np.float32)
    top, rules = np.empty((entities, most), np.float32), np.empty((entities, most), np.int64)
    counts = np.zeros(len(question_entity), np.int64)
    room, size = 4096, 0
    all_answers = np.empty(room, np.int32)
    all_best, all_doubt = np.empty((room, KINDS), np.float32), np.empty((room, KINDS), np.float32)
    all_top, all_rules = np.empty((room, most), np.float32), np.empty((room, most), np.int32)
    tick = 0
    for question in range(len(question_entity)):
        x, asked = question_entity[question], question_label[question]
        question_tick = question + 1
        state[0] = 0
        # Paths: rules are sorted by their bodies, so that those with the same first labels share what they reach.
        for group in range(first_group[x], first_group[x + 1]):
            group_of_label[group_label[group]] = group
        b1, b2, found = -1, -1, 0
        for row in range(path_starts[asked], path_starts[asked + 1]):
            confidence, rule = path_confidence[row], path_rule[row]
            group = group_of_label[path_bodies[row, 0]]
            if group < 0:
                continue
            if path_bodies[row, 1] < 0:
                for at in range(group_start[group], group_start[group + 1]):
                    _vote(targets[at], PATH, confidence, rule, question_tick, state, answers, best, doubt, top, rules,
                          slot_stamp, slot_of_entity)  # fmt: skip
                continue
            if path_bodies[row, 0] != b1 or path_bodies[row, 1] != b2:
                b1, b2 = path_bodies[row, 0], path_bodies[row, 1]
                tick += 1
                found = 0
                for at in range(group_start[group], group_start[group + 1]):
                    y = targets[at]
                    second = group_at(group_label, first_group, y, b2)
                    if second < 0:
                        continue
                    for place in range(group_start[second], group_start[second + 1]):
                        w = targets[place]
                        if w == x:
                            continue
                        if stamp[w] == tick:
                            only[w] = -1
                        else:
                            stamp[w] = tick
                            only[w] = y
                            reached[found] = w
                            found += 1
            b3 = path_bodies[row, 2]
            if b3 < 0:
                for place in range(found):
                    _vote(reached[place], PATH, confidence, rule, question_tick, state, answers, best, doubt, top,
                          rules, slot_stamp, slot_of_entity)  # fmt: skip
                continue
            tick += 1
            for reach in range(found):
                w = reached[reach]
                third = group_at(group_label, first_group, w, b3)
                if third < 0:
                    continue
                for place in range(group_start[third], group_start[third + 1]):
                    z = targets[place]
                    if z not in (x, only[w]) and stamp[z] != tick:
                        stamp[z] = tick
                        _vote(z, PATH, confidence, rule, question_tick, state, answers, best, doubt, top, rules,
                              slot_stamp, slot_of_entity)  # fmt: skip
        for group in range(first_group[x], first_group[x + 1]):
            group_of_label[group_label[group]] = -1
        if constants:
            # What the entity's attributes say of it. Whoever is asked for an answer has some answer.
            some = label_starts[asked]
            has_some = False
            for at in range(attribute_starts[x], attribute_starts[x + 1] + 1):
                if at < attribute_starts[x + 1]:
                    body = attributes_of[at]
                    has_some = has_some or body == some
                elif has_some or label_starts[asked] == label_starts[asked + 1]:
                    break
                else:
                    body = some
                low, high = body_starts[body], body_starts[body + 1]
                end = high
                while low < high:
                    middle = (low + high) // 2
                    if heads[middle] < label_starts[asked]:
                        low = middle + 1
                    else:
                        high = middle
                while low < end and heads[low] < label_starts[asked + 1]:
                    z = attribute_entity[heads[low]]
                    if z != x:
                        _vote(z, OF_QUESTION, body_confidence[low], paths + low, question_tick, state, answers, best,
                              doubt, top, rules, slot_stamp, slot_of_entity)  # fmt: skip
                    low += 1
            # What the attributes of others say of them: that they have the entity.
            back = asked + relations if asked < relations else asked - relations
            low, high = label_starts[back], label_starts[back + 1]
            while low < high:
                middle = (low + high) // 2
                if attribute_entity[middle] < x:
                    low = middle + 1
                else:
                    high = middle
            if low < label_starts[back + 1] and attribute_entity[low] == x:
                for row in range(head_starts[low], head_starts[low + 1]):
                    for at in range(first_holder[bodies[row]], first_holder[bodies[row] + 1]):
                        if holders[at] != x:
                            _vote(holders[at], OF_ANSWER, head_confidence[row], paths + constants + head_rule[row],
                                  question_tick, state, answers, best, doubt, top, rules, slot_stamp,
                                  slot_of_entity)  # fmt: skip
        new = state[0]
        counts[question] = new
        if size + new > room:
            room = max(2 * room, size + new)
            all_answers = _enlarged(all_answers, size, room)
            all_best, all_doubt = _enlarged_rows(all_best, size, room), _enlarged_rows(all_doubt, size, room)
            all_top, all_rules = _enlarged_rows(all_top, size, room), _enlarged_rows(all_rules, size, room)
        order = np.argsort(answers[:new])
        for place in range(new):
            slot = order[place]
            all_answers[size + place] = answers[slot]
            all_best[size + place], all_doubt[size + place] = best[slot], doubt[slot]
            all_top[size + place] = top[slot]
            for column in range(most):
                all_rules[size + place, column] = rules[slot, column]
        size += new
    return counts, all_answers[:size], all_best[:size], all_doubt[:size], all_top[:size], all_rules[:size]


@part
def _enlarged(values: Any, size: int, room: int) -> Any:
    larger = np.empty(room, values.dtype)
    larger[:size] = values[:size]
    return larger


@part
def _enlarged_rows(values: Any, size: int, room: int) -> Any:
    larger = np.empty((room, values.shape[1]), values.dtype)
    larger[:size] = values[:size]
    return larger
