"""A few fixed ways through the states of run directories; more of them: ``make states``."""

from states.__main__ import go
from states.machine import STEPS


def test_no_bit_of_a_run_is_lost():
    STEPS.clear()
    go(0, ways=4, steps=12)
    assert sum(STEPS.values()) >= 20
    assert {"create", "kill", "kill until the end", "load"} <= set(STEPS)
