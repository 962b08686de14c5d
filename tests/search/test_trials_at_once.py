"""Trials in several processes end when they are told to, and when one of them is killed."""

import os
import signal
import time

import pytest

from clausal.errors import RunError
from clausal.search.journal import FINISHED, Journal, Trial
from clausal.search.trials import make_trials


def attempt(one):
    """Take a moment, take minutes, or be killed."""
    if one == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(600 if one == "long" else 0)
    return Trial(0, FINISHED, 0.5, 1, 0.1, {"model.dim": 4}, None)


def test_a_killed_process_ends_all_with_one_message(tmp_path):
    with pytest.raises(RunError, match=r"a process of the search was killed.*with fewer processes"):
        list(make_trials(["killed", "long"], attempt, Journal(tmp_path / "journal.jsonl"), processes=2))


def test_an_interrupt_does_not_wait_for_trials_that_run(tmp_path):
    trials = make_trials(["short", "long", "long"], attempt, Journal(tmp_path / "journal.jsonl"), processes=2)
    assert next(trials).number == 1
    before = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        trials.throw(KeyboardInterrupt)
    assert time.monotonic() - before < 30
    assert len(Journal(tmp_path / "journal.jsonl").read()) == 1
