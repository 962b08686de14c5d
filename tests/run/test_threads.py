"""Many threads may ask one run at once: each has the answers that it would have alone, and nothing global changes."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
import torch
from question_runs import all_questions, random_run, strange_graph
from torch import nn

import clausal

THREADS = 8


class OwnEncoder(nn.Module):
    """An encoder that is no table, and that dropout would make noisy in training mode."""

    def __init__(self, entities, dim):
        super().__init__()
        self.inner, self.dropout = nn.Embedding(entities, dim), nn.Dropout(0.5)

    def forward(self, ids):
        return self.dropout(self.inner(ids))


def all_at_once(tasks):
    """Run tasks in as many threads, all of which begin at the same time."""
    barrier = Barrier(len(tasks))

    def begin(task):
        barrier.wait()
        return task()

    with ThreadPoolExecutor(len(tasks)) as pool:
        return list(pool.map(begin, tasks))


def switches():
    return torch.get_num_threads(), torch.get_float32_matmul_precision(), torch.is_grad_enabled()


def a_run():
    graph = strange_graph(60, 4, 400)
    run = random_run(graph=graph, dim=16)
    encoder = OwnEncoder(len(graph.entities), 16)
    encoder.inner.weight.data = run.predictor.encoder.weight.data
    run.predictor.encoder = encoder
    run.predictor.eval()
    return run


def tasks_for(run, clauses):
    """Eight tasks of different kinds; each returns what can be compared."""
    questions = all_questions(run.graph)[:150]
    triples = [(fact.subject, fact.relation, fact.object) for fact in run.score(run.graph.known)]
    return [
        lambda: run.predict(questions, 5),
        lambda: [run.predict(question, 5) for question in questions[:60]],
        lambda: run.predict(questions, 3, new=True),
        lambda: run.predict(questions, 4, ranking="entailed", clauses=clauses[0]),
        lambda: run.predict(questions, 4, ranking="entailed", clauses=clauses[1]),
        lambda: list(run.score(triples)),
        lambda: list(run.score(run.graph.known, ranking="entailed", clauses=clauses[0])),
        lambda: [run.nearest(name, 3) for name in list(run.graph.entities)[:30]],
    ]


def test_eight_threads_have_the_answers_of_one():
    clauses = [clausal.parse_clauses("r0(X, Y) => r1(Y, X)"), clausal.parse_clauses("r2(X, Y) => r3(X, Y)")]
    expected = [task() for task in tasks_for(a_run(), clauses)]
    before = switches()
    run = a_run()  # nothing of it has been asked for: what is kept is made by several threads at once
    for _ in range(3):
        assert all_at_once(tasks_for(run, clauses)) == expected
    assert switches() == before
    assert all_at_once([switches] * THREADS) == [(*before[:2], True)] * THREADS


@pytest.mark.parametrize("ranking", ["rules", "fused"])
def test_votes_may_be_asked_by_several_threads(ranking):
    run = a_run().fuse(clausal.parse_clauses("r0(X, Y) => r1(Y, X)\nr1(X, Y), r2(Y, Z) => r0(X, Z)"))
    questions = all_questions(run.graph)[:40]
    expected = run.predict(questions, 5, ranking=ranking)
    found = all_at_once([lambda: run.predict(questions, 5, ranking=ranking)] * THREADS)
    assert found == [expected] * THREADS
