"""What deduction alone reaches on test, against a count by hand."""

import numpy as np
import pytest

from clausal import Graph, parse_clauses
from clausal.logic.closure import close
from clausal_paper.tables.clauses import deduction_ceiling
from small_graphs import CLAUSES, small_facts


@pytest.fixture(scope="module")
def graph():
    return Graph.from_triples(small_facts()).split(valid=0.1, test=0.3, seed=1)


def test_mrr_is_that_of_a_count_by_hand(graph):
    closure = close(graph, parse_clauses(CLAUSES), threads=1).facts
    entailed, known = ({tuple(row) for row in facts.tolist()} for facts in (closure, graph.known))
    inverse = {True: [], False: []}
    for fact in map(tuple, graph.test.tolist()):
        for side in (0, 2):
            rivals = [(*fact[:side], entity, *fact[side + 1 :]) for entity in range(len(graph.entities))]
            rivals = [rival for rival in rivals if rival not in known]
            above = sum(rival in entailed for rival in rivals)
            rank = 1 + above / 2 if fact in entailed else 1 + above + (len(rivals) - above) / 2
            inverse[fact in entailed].append(1 / rank)
    ceiling = deduction_ceiling(graph, closure)
    assert 0 < ceiling.share == len(inverse[True]) / (2 * len(graph.test)) < 1
    assert ceiling.mrr == pytest.approx(np.mean(inverse[True] + inverse[False]))
    assert ceiling.deducible_mrr == pytest.approx(np.mean(inverse[True]))


def test_nothing_is_deduced_from_train_alone(graph):
    ceiling = deduction_ceiling(graph, graph.train)
    assert ceiling.share == ceiling.deducible_mrr == 0
    assert ceiling.mrr < 0.15
