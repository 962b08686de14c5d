"""Tests of adversaries are of the reference; fast forms are compared with it in ``tests/fast``."""

import pytest

from clausal.fast import FormChoice


@pytest.fixture(autouse=True)
def reference():
    with FormChoice("eager").in_use():
        yield
