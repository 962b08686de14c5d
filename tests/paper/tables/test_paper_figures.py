"""The paper's numbers as transcribed: consistent with each other where the paper's protocol lets them be."""

import pytest

from clausal_paper.tables.published import METRICS, SHARES, paper_figures
from clausal_paper.tables.rows import PAPER_TABLES

COUNTS = {"fb122": (5_057, 6_186), "wn18": (1_394, 3_606)}
ROWS = [row for table in COUNTS for row in PAPER_TABLES[table] if row.paper]


def excess(row, metric):
    """Test-ALL minus the mean of Test-I and Test-II weighted by their facts."""
    one, two = COUNTS[row.table]
    part = row.paper
    return part["test"][metric] - (one * part["test-I"][metric] + two * part["test-II"][metric]) / (one + two)


def test_there_are_nine_rows_of_fb122_and_seven_of_wn18():
    assert [sum(row.table == table for row in ROWS) for table in COUNTS] == [9, 7]


@pytest.mark.parametrize("row", [row for row in ROWS if row.is_kale], ids=str)
def test_all_of_test_is_the_mean_of_its_parts_in_rows_copied_from_guo_et_al(row):
    for metric in METRICS:
        assert abs(excess(row, metric)) < (0.0016 if metric == "mrr" else 0.16)  # rounded three times


@pytest.mark.parametrize("row", [row for row in ROWS if not row.is_kale], ids=str)
def test_all_of_test_is_a_little_above_the_mean_of_its_parts_in_the_papers_own_rows(row):
    least, most = (-0.002, 0.008)
    assert least < excess(row, "mrr") < most
    for metric in METRICS[:-1]:
        assert least < excess(row, metric) / 100 < most


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_hits_grow_with_k_and_exceed_a_share_of_mrr(row):
    for figures in row.paper.values():
        hits = [figures[metric] for metric in METRICS[:-1]]
        assert hits == sorted(hits)
        # A fact outside the first ten adds less than 1/10 to MRR, one inside at most 1.
        assert hits[-1] / 1000 < figures["mrr"] <= hits[-1] / 100 + (1 - hits[-1] / 100) / 11 + 1e-3


def test_limited_data_grows_with_the_share_and_asr_is_above_complex_everywhere():
    before = {"hits@10": 0.0, "mrr": 0.0}
    for share in SHARES:
        plain, asr = (paper_figures("wn18-limited", model, share)["test"] for model in ("complex", "asr-complex"))
        assert all(before[metric] < plain[metric] < asr[metric] for metric in before)
        before = plain


def test_rows_that_the_paper_does_not_have_have_no_numbers():
    assert paper_figures("wn18", "casr-complex") == {}
    assert paper_figures("wn18-limited", "casr-complex", 0.2) == {}
