"""Real processes that train together, for tests: a function runs in each of them, and what each returns comes back."""

import multiprocessing
import os
import traceback
from contextlib import contextmanager

from command_line import _PRELOADED

SECONDS = 240
"""After which a process counts as hanging: on a busy machine, compiling kernels takes minutes."""


@contextmanager
def started(function, size, folder, *arguments, environment=None):
    """Start ``function(*arguments)`` in processes that know of each other; yield them, and the ends of their pipes."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(_PRELOADED)
    meeting = folder / f"meeting-{len(list(folder.glob('meeting-*')))}"
    meeting.mkdir()
    pipes, processes = [], []
    for rank in range(size):
        here, there = context.Pipe(duplex=False)
        own = {"CLAUSAL_MEETING": str(meeting), "RANK": str(rank), "WORLD_SIZE": str(size)}
        own |= {"LOCAL_WORLD_SIZE": str(size)} | (environment or {})
        process = context.Process(target=_in_child, args=(there, own, function, arguments))
        process.start()
        there.close()
        pipes.append(here)
        processes.append(process)
    try:
        yield processes, pipes
    finally:
        for process in processes:
            process.kill()
            process.join()


def run_together(function, size, folder, *arguments, environment=None):
    """Run ``function(*arguments)`` in several processes; return what each of them has returned."""
    with started(function, size, folder, *arguments, environment=environment) as (_, pipes):
        found = [received(pipe) for pipe in pipes]
    for kind, value in found:
        assert kind == "returned", value
    return [value for _, value in found]


def received(pipe):
    """What a process has sent: it ``returned`` a value, ``failed`` with a message, or ``ended`` without a word."""
    try:
        return pipe.recv() if pipe.poll(SECONDS) else ("hangs", None)
    except EOFError:
        return "ended", None


def _in_child(pipe, environment, function, arguments):
    import torch

    from clausal.errors import ClausalError

    torch.set_num_threads(1)
    os.environ.update(environment)
    try:
        pipe.send(("returned", function(*arguments)))
    except ClausalError as error:
        pipe.send(("failed", str(error)))
    except BaseException:
        pipe.send(("broke", traceback.format_exc()))


def in_turn(tasks):
    """Join the other processes once, and do tasks ``name: (function, arguments)`` with them, one after the other."""
    from clausal.peers.joining import joined

    with joined({}, gpu=False, wait=SECONDS, trust_network=False) as peers:
        return {name: function(peers, *arguments) for name, (function, arguments) in tasks.items()}


def do_together(size, folder, tasks):
    """Do tasks in several processes that join once; return what each process has returned, by the names of tasks."""
    found = run_together(in_turn, size, folder, tasks)
    return {name: [one[name] for one in found] for name in tasks}
