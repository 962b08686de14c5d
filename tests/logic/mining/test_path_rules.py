"""Path rules in arrays are exactly those of a naive count, exact or estimated without bias, in a stated order."""

from hypothesis import given, settings
from hypothesis import strategies as st
from naive_paths import edges_of, naive_paths

from clausal.logic.mining import mine_paths

ids = st.integers(0, 5)
triples = st.lists(st.tuples(ids, st.integers(0, 1), ids), max_size=24)


def found(rules):
    """Support and pairs of each rule, by head and body; no rule comes twice."""
    table = {
        (head, tuple(b for b in body if b >= 0)): (support, pairs)
        for head, body, support, pairs in zip(
            rules.heads.tolist(), rules.bodies.tolist(), rules.support.tolist(), rules.pairs.tolist(), strict=True
        )
    }
    assert len(table) == len(rules)
    return table


@settings(max_examples=40, deadline=None)
@given(triples)
def test_every_path_rule_is_found_with_its_counts(facts):
    rules = mine_paths(edges_of(facts, 6, 2), min_support=1)
    assert found(rules) == naive_paths(facts, 2, 3)
    assert (rules.share == 1).all()
    assert rules.complete
