"""The fixed slice of the differential suite; more programs: ``make differential``. Spark has a test of its own."""

import pytest

from differential.comparisons import HOMES, compare, comparison


@pytest.mark.parametrize("name", [name for name in HOMES if comparison(name).slice])
def test_both_ways_agree(name):
    one = comparison(name)
    missing = one.missing()
    if missing:
        pytest.skip(missing)
    turn = compare(one, 0, most=one.slice)
    assert not turn.failures, turn.failures[0]
    assert turn.cases >= one.slice // 2
