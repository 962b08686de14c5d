"""Reading clauses pauses the garbage collector of the process, and threads do not disturb each other by it."""

import gc
import threading

from clausal.logic.lines import read_lines


def test_garbage_collection_is_off_while_any_thread_reads_and_on_after_the_last():
    both_read, first_has_ended, seen = threading.Barrier(2), threading.Event(), {}

    def first():
        read_lines("a line", None, lambda line, number: both_read.wait() and None)
        seen["after the first"] = gc.isenabled()
        first_has_ended.set()

    def second():
        def read(line, number):
            both_read.wait()
            first_has_ended.wait()
            seen["while the second reads"] = gc.isenabled()

        read_lines("a line", None, read)

    assert gc.isenabled()
    threads = [threading.Thread(target=run) for run in (first, second)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == {"after the first": False, "while the second reads": False}
    assert gc.isenabled()
