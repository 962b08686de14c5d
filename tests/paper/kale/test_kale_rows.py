"""The settings of the rows that the paper copied say what their names say."""

from clausal_paper.kale.settings import CHOSEN


def test_rows_differ_in_rule_weight_and_facts_as_their_names_say():
    for (_, row), settings in CHOSEN.items():
        assert (settings.rule_weight > 0) == (row == "kale-joint")
        assert (settings.on == "closure") == (row == "kale-pre")
