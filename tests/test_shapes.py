"""The test suite checks the shapes of tensors at the public seams, and so finds a wrong one."""

from __future__ import annotations

import inspect
from importlib import import_module

import pytest
import torch

import shapes
from clausal.adversary import SEMANTICS, ClosedForm, GradientAscent, RealEntities
from clausal.evaluation import EntailedFirst
from clausal.model import LinkPredictor, PairPredictor
from clausal.model.scorers import SCORERS, ComplEx, DistMult, TransE
from clausal.training.losses import LOSSES, Hinge

CHECKED = {
    "clausal.model.scorers.base:Scorer": list(SCORERS.values()),
    "clausal.model.predictor:LinkPredictor": [LinkPredictor, PairPredictor],
    "clausal.evaluation.entailed:EntailedFirst": [EntailedFirst],
    "clausal.adversary:Semantics": list(SEMANTICS.values()),
    "clausal.adversary:Adversary": [RealEntities, GradientAscent, ClosedForm],
    "clausal.training.losses:FactLoss": list(LOSSES.values()),
}


@pytest.mark.parametrize("seam", shapes.SEAMS)
def test_every_class_of_a_seam_is_checked(seam):
    module, name = seam.split(":")
    base = getattr(import_module(module), name)
    for kind in CHECKED[seam]:
        assert issubclass(kind, base)
        methods = [getattr(kind, method) for method in shapes.SEAMS[seam] if hasattr(kind, method)]
        assert methods
        assert all(map(shapes.is_checked, methods))


@pytest.mark.parametrize("seam", shapes.SEAMS)
def test_every_tensor_of_a_seam_has_a_shape(seam):
    for kind in CHECKED[seam]:
        for method, promised in shapes.SEAMS[seam].items():
            if hasattr(kind, method):
                parameters = inspect.signature(getattr(kind, method)).parameters.values()
                tensors = {parameter.name for parameter in parameters if "Tensor" in str(parameter.annotation)}
                assert tensors <= set(promised.takes)


def vectors(*shape):
    return torch.zeros(shape)


def refused(text):
    return pytest.raises(shapes.ShapeError, match=text)


def test_an_argument_of_another_dimension_is_refused():
    with refused(r"DistMult\.score: subject has shape \[3, 5\], not \[\.\.\. dim\] \(dim = 4\)"):
        DistMult(4).score(subject=vectors(3, 5), relation=vectors(3, 4), object=vectors(3, 4))
    with refused(r"ComplEx\.blocks: relation has shape \[3, 5\]"):
        ComplEx(4).blocks(vectors(3, 5))


def test_arguments_that_do_not_go_together_are_refused():
    with refused(r"TransE\.score_objects: (subject|relation) has shape \[[23], 4\]"):
        TransE(4).score_objects(subject=vectors(3, 4), relation=vectors(2, 4), candidates=vectors(7, 4))
    with refused(r"DistMult\.score: .*with \.\.\. = \[3\]"):
        DistMult(4).score(subject=vectors(3, 4), relation=vectors(1, 4), object=vectors(2, 4))
    with refused(r"Hinge\.__call__: negative has shape \[4, 3\], not \[\.\.\. b\] \(b = 4\)"):
        Hinge()(vectors(4), vectors(4, 3))


def test_broadcasting_over_leading_dimensions_is_allowed():
    scores = DistMult(4).score(subject=vectors(3, 1, 4), relation=vectors(4), object=vectors(7, 4))
    assert scores.shape == (3, 7)


class KeepsTheLastDimension(DistMult):
    def score(self, relation, subject, object):
        return relation * subject * object


class OneNumberPerGroup(RealEntities):
    def inconsistency(self, predictor, groups, adversarial_set):
        return torch.zeros(len(groups))


class TwoClauses:
    clauses = ("one", "two")


def test_a_result_of_another_shape_is_refused():
    shapes.check_class(KeepsTheLastDimension, shapes.SEAMS["clausal.model.scorers.base:Scorer"])
    with refused(r"KeepsTheLastDimension\.score: the result has shape \[3, 4\], not \[\.\.\., with \.\.\. = \[3\]\]"):
        KeepsTheLastDimension(4).score(subject=vectors(3, 4), relation=vectors(3, 4), object=vectors(3, 4))
    shapes.check_class(OneNumberPerGroup, shapes.SEAMS["clausal.adversary:Adversary"])
    with refused(r"inconsistency: the result has shape \[1\], not \[clauses\] \(clauses = 2\)"):
        OneNumberPerGroup().inconsistency(None, [TwoClauses()], [])


def test_classes_of_tests_are_left_alone_unless_asked():
    class Own(DistMult):
        def score(self, relation, subject, object):
            return relation

    shapes.check_shapes()
    assert not shapes.is_checked(Own.score)
