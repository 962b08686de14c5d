"""The rows that are repeated are the six of the paper's tables."""

from clausal.experiments.kale.paper import ROWS


def test_rows_differ_in_rule_weight_and_facts_as_their_names_say():
    for row in ROWS:
        assert (row.settings.rule_weight > 0) == (row.name == "KALE-Joint")
        assert (row.settings.on == "closure") == (row.name == "KALE-Pre")
        assert row.settings.passes == 1000
        assert row.quick().settings.passes < 100


def test_the_papers_figures_on_all_of_test_are_between_those_of_its_parts():
    share = {"fb122": 5057 / 11243, "wn18": 1394 / 5000}  # of Test-I
    for row in ROWS:
        first, second, both = row.mrr
        assert abs(share[row.data] * first + (1 - share[row.data]) * second - both) < 0.002
