"""Entailment at prediction time: a ranker that puts the facts of a closure above all others."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from clausal.errors import InputError
from clausal.evaluation.known import Ids, Known, object_queries, subject_queries
from clausal.evaluation.protocol import Ranker, check_facts, scoring
from clausal.evaluation.shared import shared_table
from clausal.graph.graph import Facts

_ABOVE_ALL = 2.0**32  # more than the places of any two float32 numbers are apart


class EntailedFirst:
    """The facts of a closure first, then all others; each of the two in the order of the model's scores.

    Its scores are places of the model's in the order of all float32 numbers, moved up for the facts of the closure.
    They say nothing but the order, which is exactly the model's: adding to a score would round, and make ties.
    """

    ranking = "entailed first"

    def __init__(self, predictor: Ranker, closure: Facts) -> None:
        check_facts(closure, predictor)
        self.predictor = predictor
        self.closure = Known(closure, predictor.num_entities, predictor.num_relations)

    @property
    def num_entities(self) -> int:
        """How many entities there are to rank."""
        return self.predictor.num_entities

    @property
    def num_relations(self) -> int:
        """How many relations there are."""
        return self.predictor.num_relations

    @property
    def device(self) -> torch.device:
        """Where ids are expected and scores come back."""
        return self.predictor.device

    def score(self, subjects: Tensor, relations: Tensor, objects: Tensor) -> Tensor:
        """Score facts given by ids: [facts] each, scores [facts]."""
        with scoring(self.predictor):
            scores = _places(self.predictor.score(subjects, relations, objects))
        facts = torch.stack([subjects, relations, objects], dim=1).cpu().numpy()
        entailed = self.closure.objects.contain(object_queries(facts, self.num_relations), facts[:, 2])
        return scores + _ABOVE_ALL * torch.from_numpy(entailed).to(self.device)

    def score_objects(self, subjects: Tensor, relations: Tensor) -> Tensor:
        """Score all entities as the object of (s, r, ?): ids [queries], scores [queries, entities]."""
        with scoring(self.predictor):
            scores = _places(self.predictor.score_objects(subjects, relations))
        facts = torch.stack([subjects, relations], dim=1).cpu().numpy()  # the query of a fact has no object
        return self._raise(scores, *self.closure.objects.find(object_queries(facts, self.num_relations)))

    def score_subjects(self, relations: Tensor, objects: Tensor) -> Tensor:
        """Score all entities as the subject of (?, r, o): ids [queries], scores [queries, entities]."""
        with scoring(self.predictor):
            scores = _places(self.predictor.score_subjects(relations, objects))
        facts = torch.stack([objects, relations, objects], dim=1).cpu().numpy()  # the first column is not read
        return self._raise(scores, *self.closure.subjects.find(subject_queries(facts, self.num_entities)))

    def _raise(self, scores: Tensor, answers: np.ndarray, counts: Ids) -> Tensor:
        """Move the entailed answers of each query, given query after query, above all others."""
        rows = torch.from_numpy(np.repeat(np.arange(len(counts)), counts)).to(self.device)
        columns = torch.from_numpy(answers.astype(np.int64)).to(self.device)
        table = shared_table(self.predictor)
        if table is not None:  # scores are of the entities of this process
            own = table.dealing.owners(columns) == table.dealing.rank
            rows, columns = rows[own], table.dealing.places(columns[own])
        scores[rows, columns] += _ABOVE_ALL
        return scores


def _places(scores: Tensor) -> Tensor:
    """Return the place of each score in the order of all float32 numbers, as float64; NaN stays NaN.

    The bits of a float32 are a sign and a magnitude, and larger magnitudes have larger bits. Read as an integer, a
    negative number is −2³¹ plus its magnitude.
    """
    if scores.dtype == torch.float64:
        raise InputError("entailed facts are put first by the order of float32 scores; return scores as float32")
    bits = scores.float().view(torch.int32)
    places = torch.where(bits < 0, -(2**31) - bits, bits).double()
    return places.masked_fill_(scores.isnan(), torch.nan)
