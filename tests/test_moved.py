"""Imports of version 0.1 that have moved still work, and warn with the new place."""

import importlib
import subprocess
import sys

import pytest

import clausal
from clausal.moved import MOVED

NAMES = [(module, name, home) for module, names in MOVED.items() for name, home in names.items()]
NAMES.append(("clausal.training", "make_predictor", "clausal.model.build"))
# What the packages of version 0.1 listed as public; what has no successor was a form of the step or of a kernel.
PUBLIC = {
    "clausal.consistency": "POOLINGS SEMANTICS AdversarialSet Adversary Certificate ClauseGroup ClosedForm "
    "GradientAscent RealEntities Semantics by_clause certify group_clauses readings_of without_closed_form",
    "clausal.kernels": "LOSSES BoundSets ClauseKernels Corners Forms FusedModel Kernels Projection Term Terms "
    "find_clause_kernels find_kernels",
    "clausal.training.train": "prepare make_predictor make_adversary make_semantics make_validation make_certification "
    "find_device",
    "clausal.training.steps": "EagerStep Passed Step choose_step",
}
GONE = {"LOSSES", "Term", "ClauseKernels", "Corners", "find_clause_kernels", "EagerStep", "Passed", "choose_step"}
TOP_LEVEL = """Answer ClausalError Clause Explanation Graph InputError Run RunError Settings check_encoder check_scorer
load load_graph parse_clause parse_clauses read_clauses resume train"""


@pytest.mark.parametrize(("module", "name", "home"), NAMES)
def test_a_name_that_has_moved_is_the_same_with_a_warning(module, name, home):
    with pytest.warns(DeprecationWarning, match=f"^{module}.{name} has moved: import it from {home}$"):
        found = getattr(importlib.import_module(module), name)
    assert found is getattr(importlib.import_module(home), name)


@pytest.mark.parametrize("module", PUBLIC)
def test_every_public_name_of_version_0_1_has_moved_or_is_known_to_be_gone(module):
    assert set(PUBLIC[module].split()) - GONE == set(MOVED[module])


def test_a_name_without_a_successor_is_refused():
    with pytest.raises(ImportError, match="EagerStep"):
        exec("from clausal.training.steps import EagerStep")
    with pytest.raises(AttributeError, match=r"'clausal\.training\.steps' of version 0\.1 is gone"):
        importlib.import_module("clausal.training.steps").choose_step  # noqa: B018


def test_the_warning_names_the_line_that_imports():
    with pytest.warns(DeprecationWarning, match="clausal.consistency.certify") as warned:
        from clausal.consistency import certify  # noqa: F401
    assert {one.filename for one in warned} == {__file__}


def test_experiments_are_in_a_package_of_their_own():
    import clausal_paper.kale

    with pytest.warns(DeprecationWarning, match="KaleSettings has moved: import it from clausal_paper.kale"):
        from clausal.experiments.kale import KaleSettings
    assert KaleSettings is clausal_paper.kale.KaleSettings


def test_a_module_that_never_was_is_not_found():
    for name in ("clausal.experiments.nothing", "clausal.nothing", "clausal.training.nothing"):
        with pytest.raises(ModuleNotFoundError):
            importlib.import_module(name)


def test_every_top_level_name_of_version_0_1_is_one_still():
    assert set(TOP_LEVEL.split()) <= set(clausal.__all__)


def test_the_package_shows_exactly_its_public_names():
    program = "import clausal; print(*dir(clausal)); clausal.Graph; print(*dir(clausal))"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    before, after = result.stdout.splitlines()
    assert before.split() == after.split() == sorted(clausal.__all__)


@pytest.mark.parametrize("name", clausal.__all__)
def test_every_public_name_is_there(name):
    assert getattr(clausal, name) is not None
