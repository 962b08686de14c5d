"""Running the command line in tests: inside this process, or in one of its own that can be killed."""

import io
import json
import multiprocessing
import os
import resource
import subprocess
import sys
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

CLAUSAL = Path(sys.executable).with_name("clausal")
_PRELOADED = ["clausal.cli", "clausal.run", "clausal.logic.builder", "pyarrow.compute", "pyarrow.parquet"]
_PRELOADED += ["torch._dynamo", "pandas", "pytest"]  # torch and pyarrow import these when first used
_DIVIDER = "\n---\n"


@dataclass(frozen=True)
class Result:
    """What a command left: its exit code and what it printed."""

    code: int
    stdout: str
    stderr: str
    memory: int = 0  # by how many bytes the process grew, where it was one of its own

    @property
    def json(self):
        return json.loads(self.stdout)


def clausal(*arguments, encoding="utf-8"):
    """Run a command in this process; ``encoding`` is that of its terminal."""
    from clausal.cli import main

    out, err = (io.TextIOWrapper(io.BytesIO(), encoding=encoding, write_through=True) for _ in range(2))
    code = 0
    with patch.object(sys, "argv", ["clausal", *map(str, arguments)]), redirect_stdout(out), redirect_stderr(err):
        try:
            main()
        except SystemExit as stop:
            code = stop.code or 0
    return Result(code, *(stream.buffer.getvalue().decode() for stream in (out, err)))


def refused(result, *fragments, code=2):
    """Assert that a command ended in one message that holds the fragments, and printed no result."""
    assert result.code == code, result.stderr
    assert result.stdout == ""
    assert result.stderr.count("error:") == 1, result.stderr
    assert "Traceback" not in result.stderr
    assert "internal error" not in result.stderr
    message = result.stderr[result.stderr.index("error:") :]
    for fragment in map(str, fragments):
        assert fragment in message, message
    return message


def clausal_process(*arguments, **options):
    """Run the installed command as a user would."""
    options = {"capture_output": True, "text": True, "timeout": 120} | options
    return subprocess.run([CLAUSAL, *map(str, arguments)], env=_environment(), **options)


def start_process(*arguments, **options):
    """Start the installed command without waiting for it."""
    return subprocess.Popen([CLAUSAL, *map(str, arguments)], env=_environment(), text=True, **options)


def _environment():
    return os.environ | {"OMP_NUM_THREADS": "1"}


@contextmanager
def forked(*arguments, log, file_size=None):
    """Run a command in a process that starts at once: its parent has imported everything and trained nothing."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(_PRELOADED)
    process = context.Process(target=_main_in_child, args=([*map(str, arguments)], str(log), file_size))
    process.start()
    try:
        yield process
    finally:
        process.kill()
        process.join()


def run_forked(*arguments, log, file_size=None):
    """Run a command to its end in such a process; ``file_size`` is the largest file it may write.

    The result says by how much memory the process grew.
    """
    with forked(*arguments, log=log, file_size=file_size) as process:
        process.join(120)
        code = process.exitcode
    stdout, stderr, memory = Path(log).read_text(encoding="utf-8").split(_DIVIDER)
    return Result(code, stdout, stderr, int(memory))


def _main_in_child(arguments, log, file_size):
    import torch

    torch.set_num_threads(1)
    unlimited = resource.getrlimit(resource.RLIMIT_FSIZE)
    if file_size is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (file_size, unlimited[1]))
    before = _peak_memory()
    result = clausal(*arguments)
    grown = str(_peak_memory() - before)
    resource.setrlimit(resource.RLIMIT_FSIZE, unlimited)
    Path(log).write_text(_DIVIDER.join([result.stdout, result.stderr, grown]), encoding="utf-8")
    os._exit(result.code)


def _peak_memory():
    """The most bytes that this process ever had: a mark that never falls, so it tells nothing in an old process."""
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
