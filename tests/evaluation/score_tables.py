"""A link predictor that is only a table of scores, and ranking with plain Python sets to compare with."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor


class TablePredictor:
    """Scores come from a table [relations, subjects, objects]; batch sizes asked for are recorded."""

    def __init__(self, table: Tensor) -> None:
        self.table = table
        self.num_relations, self.num_entities = table.shape[:2]
        self.device = table.device
        self.asked: list[int] = []

    def score(self, subjects: Tensor, relations: Tensor, objects: Tensor) -> Tensor:
        return self.table[relations, subjects, objects]

    def score_objects(self, subjects: Tensor, relations: Tensor) -> Tensor:
        self.asked.append(len(subjects))
        return self.table[relations, subjects]

    def score_subjects(self, relations: Tensor, objects: Tensor) -> Tensor:
        self.asked.append(len(objects))
        return self.table[relations, :, objects]


def random_table(seed: int, relations: int, entities: int, levels: int = 4) -> TablePredictor:
    """A table with few distinct scores, so that most ranks are tied."""
    generator = torch.Generator().manual_seed(seed)
    return TablePredictor(torch.randint(levels, (relations, entities, entities), generator=generator).float())


def random_facts(seed: int, count: int, relations: int, entities: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    columns = [
        rng.integers(entities, size=count),
        rng.integers(relations, size=count),
        rng.integers(entities, size=count),
    ]
    return np.unique(np.stack(columns, axis=1), axis=0).astype(np.int32)


def naive_ranks(table: list, facts: list, known: set, ties: str) -> dict:
    """Rank one fact and one candidate at a time, as the definition says."""
    entities = range(len(table[0]))
    ranks: dict = {(setting, side): [] for setting in ("raw", "filtered") for side in ("subject", "object")}
    for s, r, o in facts:
        for side in ("subject", "object"):
            for setting in ("raw", "filtered"):
                greater = equal = 0
                for entity in entities:
                    candidate = (entity, r, o) if side == "subject" else (s, r, entity)
                    if candidate == (s, r, o) or (setting == "filtered" and candidate in known):
                        continue
                    score = table[r][candidate[0]][candidate[2]]
                    greater += score > table[r][s][o]
                    equal += score == table[r][s][o]
                first, last = 1 + greater, 1 + greater + equal
                chosen = {"optimistic": first, "pessimistic": last, "realistic": (first + last) / 2}
                ranks[setting, side].append(chosen[ties])
    return ranks
