"""The fixed slice of the fuzzer, second part: settings, trainings, runs, questions, requests and commands."""

import pytest

from fuzzing.slices import check_slice
from fuzzing.targets import NAMES, target


@pytest.mark.parametrize("name", ["settings", "trainings", "runs", "queries", "requests", "commands"])
def test_only_explained_errors_come_of_odd_use(name):
    check_slice(name)


def test_the_slice_has_five_thousand_cases():
    assert sum(target(name).slice for name in NAMES) >= 5_000
