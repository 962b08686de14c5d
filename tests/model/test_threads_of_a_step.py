"""Much work on few numbers uses one thread of torch, also from several at once, and leaves the number as it was."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Event

import pytest
import torch

from clausal.model.threads import threads_for

FEW, MANY = 1000, 1 << 21


@pytest.fixture(autouse=True)
def two_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


def number_in_a_new_thread():
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(torch.get_num_threads).result()


def test_small_tables_are_searched_by_one_thread_and_large_ones_by_all():
    with threads_for(FEW):
        assert torch.get_num_threads() == 1
    with threads_for(MANY):
        assert torch.get_num_threads() == 2
    assert torch.get_num_threads() == 2


def test_a_failure_restores_the_number_of_threads():
    with pytest.raises(ZeroDivisionError), threads_for(FEW):
        raise ZeroDivisionError
    assert torch.get_num_threads() == 2


def test_of_two_overlapping_searches_each_has_one_thread_and_both_restore_the_number():
    first_is_inside, second_is_inside, first_has_left = Event(), Event(), Event()

    def first():
        with threads_for(FEW):
            first_is_inside.set()
            assert second_is_inside.wait(10)
        first_has_left.set()
        return torch.get_num_threads()

    def second():
        assert first_is_inside.wait(10)
        with threads_for(FEW):  # torch starts this thread with the 1 of the first
            second_is_inside.set()
            assert first_has_left.wait(10)
            inside = torch.get_num_threads()
        return inside, torch.get_num_threads()

    with ThreadPoolExecutor(2) as pool:
        one, other = pool.submit(first), pool.submit(second)
        assert one.result() == 2
        assert other.result() == (1, 2)
    assert torch.get_num_threads() == number_in_a_new_thread() == 2


def test_many_concurrent_searches_leave_the_number_as_it_was():
    start = Barrier(8)

    def search():
        start.wait(10)
        for _ in range(200):
            with threads_for(FEW), threads_for(FEW):
                assert torch.get_num_threads() == 1
        return torch.get_num_threads()

    with ThreadPoolExecutor(8) as pool:
        assert {done.result() for done in [pool.submit(search) for _ in range(8)]} == {2}
    assert torch.get_num_threads() == number_in_a_new_thread() == 2
