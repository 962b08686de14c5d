"""Questions of many requests in one batch: each gets its own answers, too many are refused."""

import asyncio
import threading
from types import SimpleNamespace

import pytest

from clausal.run import Answer
from clausal.serve.batching import Batcher
from clausal.serve.metrics import Metrics
from clausal.serve.problems import Problem
from clausal.serve.statuses import PREDICTED


class FakeRun:
    """Answers once it may, and remembers what it was asked together."""

    def __init__(self):
        self.may, self.batches = threading.Event(), []

    def predict(self, queries, k, *, new, ranking, consistent):
        self.may.wait(10)
        self.batches.append((len(queries), k, new, ranking))
        if any(query[0] == "bad" for query in queries):
            raise ValueError("bad")
        return [
            [Answer(rank, query[0], "r", str(rank), 0.0, False, None) for rank in range(1, k + 1)] for query in queries
        ]


@pytest.fixture
def served():
    run = FakeRun()
    return SimpleNamespace(run=run, statuses=SimpleNamespace(of_answers=lambda answers: [PREDICTED] * len(answers)))


def asking(served, work, waiting=100):
    async def main():
        batcher = Batcher(waiting, Metrics())
        batcher.start()
        try:
            return await work(batcher)
        finally:
            served.run.may.set()
            batcher.stop()

    return asyncio.run(main())


def question(name):
    return (name, "r", None)


def test_what_waits_is_answered_together_and_each_gets_its_own(served):
    async def work(batcher):
        first = asyncio.create_task(batcher.ask(served, [question("a")], 1, new=False, ranking="model"))
        await asyncio.sleep(0.2)  # taken alone, and held up
        rest = [
            asyncio.create_task(batcher.ask(served, [question(f"{k}")] * (1 + k % 3), k, new=k > 5, ranking="model"))
            for k in range(1, 9)
        ]
        await asyncio.sleep(0.1)
        served.run.may.set()
        return [await first] + [await one for one in rest]

    found = asking(served, work)
    for k, answers in enumerate(found[1:], 1):
        assert len(answers) == 1 + k % 3
        assert all([one.subject for one, _ in some] == [str(k)] * k for some in answers)
    assert served.run.batches == [(1, 1, False, "model"), (11, 5, False, "model"), (6, 8, True, "model")]


def test_few_questions_do_not_wait_behind_many(served):
    async def work(batcher):
        held = asyncio.create_task(batcher.ask(served, [question("a")], 1, new=False, ranking="model"))
        await asyncio.sleep(0.1)
        many = asyncio.create_task(batcher.ask(served, [question("m")] * 600, 1, new=False, ranking="model"))
        await asyncio.sleep(0.1)
        few = asyncio.create_task(batcher.ask(served, [question("f")], 1, new=False, ranking="model"))
        await asyncio.sleep(0.1)
        served.run.may.set()
        await asyncio.gather(held, few)
        return await many

    assert len(asking(served, work, waiting=1000)) == 600
    assert [size for size, *_ in served.run.batches].index(1, 1) <= 2


def test_too_many_questions_are_refused_and_told_when_to_come_again(served):
    async def work(batcher):
        held = asyncio.create_task(batcher.ask(served, [question("a")], 1, new=False, ranking="model"))
        await asyncio.sleep(0.1)
        waiting = [
            asyncio.create_task(batcher.ask(served, [question("a")], 1, new=False, ranking="model")) for _ in range(5)
        ]
        await asyncio.sleep(0.1)
        with pytest.raises(Problem) as refused:
            await batcher.ask(served, [question("a")], 1, new=False, ranking="model")
        served.run.may.set()
        await asyncio.gather(held, *waiting)
        return refused.value

    problem = asking(served, work, waiting=5)
    assert problem.status == 503
    assert problem.headers()["retry-after"] == "1"


def test_failures_go_to_those_who_asked_and_the_next_are_answered(served):
    async def work(batcher):
        served.run.may.set()
        with pytest.raises(ValueError, match="bad"):
            await batcher.ask(served, [question("bad")], 1, new=False, ranking="model")
        gone = asyncio.create_task(batcher.ask(served, [question("gone")], 1, new=False, ranking="model"))
        gone.cancel()
        return await batcher.ask(served, [question("good")], 2, new=False, ranking="model")

    assert len(asking(served, work)[0]) == 2
