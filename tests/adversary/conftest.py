"""Tests of adversaries are of the reference; fast forms are compared with it in ``tests/fast``."""

import pytest

from clausal.fast import Choice


@pytest.fixture(autouse=True)
def reference():
    with Choice("eager").in_use():
        yield
