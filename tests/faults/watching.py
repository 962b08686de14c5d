"""A command in a process of its own, whose system calls on files wait for a decision.

The child asks the kernel for a seccomp filter that notifies; its parent hears of every call in the filter, looks at its
arguments and lets it go on, or answers in the kernel's place. Nothing is preloaded or traced, so calls of native
libraries and of their threads are seen too. Linux on x86-64 alone.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import platform
import select
import signal
import socket
import struct
import sys
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

# x86-64: the call, and how its arguments name a file: an open file, a path, or a path below an open folder.
_CALLS = {
    1: ("write", "fd"),
    18: ("pwrite64", "fd"),
    20: ("writev", "fd"),
    296: ("pwritev", "fd"),
    40: ("sendfile", "fd"),
    326: ("copy_file_range", "third"),
    74: ("fsync", "fd"),
    75: ("fdatasync", "fd"),
    77: ("ftruncate", "fd"),
    285: ("fallocate", "fd"),
    91: ("fchmod", "fd"),
    0: ("read", "fd"),
    17: ("pread64", "fd"),
    2: ("open", "path"),
    76: ("truncate", "path"),
    82: ("rename", "path"),
    83: ("mkdir", "path"),
    84: ("rmdir", "path"),
    85: ("creat", "path"),
    87: ("unlink", "path"),
    90: ("chmod", "path"),
    257: ("openat", "at"),
    258: ("mkdirat", "at"),
    263: ("unlinkat", "at"),
    264: ("renameat", "at"),
    268: ("fchmodat", "at"),
    316: ("renameat2", "at"),
}
_MEMORY = {9: "mmap", 12: "brk", 25: "mremap"}
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
_AT_FDCWD = -100
_X86_64 = 0xC000003E

_PR_SET_NO_NEW_PRIVS, _SECCOMP, _SET_MODE_FILTER, _NEW_LISTENER = 38, 317, 1, 8
_ALLOW, _NOTIFY = 0x7FFF0000, 0x7FC00000
_RECEIVE, _SEND, _GO_ON = 0xC0502100, 0xC0182101, 1
_NOTICE, _ANSWER = struct.Struct("=QIIiIQ6Q"), struct.Struct("=QqiI")

_libc = ctypes.CDLL(None, use_errno=True)


def why_not() -> str | None:
    """Say why commands cannot be watched here; None where they can."""
    if sys.platform != "linux" or platform.machine() != "x86_64":
        return f"steps are watched on Linux with x86-64 alone, not on {platform.system()} {platform.machine()}"
    ours, theirs = socket.socketpair()
    child = os.fork()
    if child == 0:
        try:
            socket.send_fds(theirs, [b"."], [_listen([74])])
            os._exit(0)
        except OSError:
            os._exit(1)
    theirs.close()
    with ours:
        _, refused = os.waitpid(child, 0)
    return "this kernel or container does not let a process watch system calls (seccomp)" if refused else None


@dataclass(frozen=True)
class Step:
    """One system call on a file below the watched folder, before it is done."""

    number: int  # from 1
    call: str
    path: Path
    thread: int
    arguments: tuple[int, ...]
    reads: bool

    @property
    def file(self) -> int:
        """The open file that the call is about."""
        return self.arguments[2 if self.call == "copy_file_range" else 0]


Decision = Callable[[Step], int]
"""What becomes of a step: 0 lets it go on, another number is the error that the command gets instead."""


class Process:
    """A forked process with a command in it, and what it printed into a file."""

    def __init__(self, run: Callable[[], int], log: Path, watch: str | None = None) -> None:
        """Start ``run``; ``watch`` is "changes", "files" (reads too) or "memory"."""
        self.log = log
        self._listener: int | None = None
        ours, theirs = socket.socketpair()
        sys.stdout.flush()
        sys.stderr.flush()
        with warnings.catch_warnings():  # of threads in this process, which the child does not need
            warnings.simplefilter("ignore", DeprecationWarning)
            self.pid = os.fork()
        if self.pid == 0:
            _child(run, log, theirs, watch)
        theirs.close()
        with ours:
            if watch is not None:
                ours.settimeout(20)
                _, (self._listener,), _, _ = socket.recv_fds(ours, 1, 1)
        self._ended = os.pidfd_open(self.pid)

    def kill(self, number: int = signal.SIGKILL) -> None:
        """Send a signal; SIGKILL goes to whatever the process has started too."""
        with suppress(ProcessLookupError):
            (os.killpg if number == signal.SIGKILL else os.kill)(self.pid, number)

    def watch(self, root: Path, decide: Decision, seconds: float = 120) -> int:
        """Decide on every step until the process ends; return its exit code, negative after a signal."""
        assert self._listener is not None
        poll = select.poll()
        poll.register(self._listener, select.POLLIN)
        poll.register(self._ended, select.POLLIN)
        number, deadline = 0, time.monotonic() + seconds
        while time.monotonic() < deadline:
            ready = dict(poll.poll(1000))
            if ready.get(self._listener, 0) & select.POLLIN:
                number = self._answer(root, decide, number)
            elif self._ended in ready:
                break
            elif self._listener in ready:  # every thread of it has ended
                poll.unregister(self._listener)
        return self.wait(max(1.0, deadline - time.monotonic()))

    def wait(self, seconds: float = 120) -> int:
        """Wait for the end; one that does not end is killed, which is -9 too."""
        poll = select.poll()
        poll.register(self._ended, select.POLLIN)
        if not poll.poll(seconds * 1000):
            self.kill()
        _, status = os.waitpid(self.pid, 0)
        self.kill()  # what it left running
        os.close(self._ended)
        if self._listener is not None:
            os.close(self._listener)
        return os.waitstatus_to_exitcode(status)

    def ended(self, seconds: float) -> bool:
        """Wait for the end for a while, and say whether it came."""
        poll = select.poll()
        poll.register(self._ended, select.POLLIN)
        return bool(poll.poll(seconds * 1000))

    def _answer(self, root: Path, decide: Decision, number: int) -> int:
        notice = ctypes.create_string_buffer(_NOTICE.size)
        if _libc.ioctl(self._listener, ctypes.c_ulong(_RECEIVE), notice) != 0:
            return number  # it was killed meanwhile
        key, thread, _, call, _, _, *arguments = _NOTICE.unpack(notice.raw)
        step = _step(number + 1, thread, call, tuple(arguments), root)
        error = 0
        if step is not None:
            number = step.number
            error = decide(step)
        answer = _ANSWER.pack(key, 0, -error, 0 if error else _GO_ON)
        _libc.ioctl(self._listener, ctypes.c_ulong(_SEND), answer)
        return number


def _step(number: int, thread: int, call: int, arguments: tuple[int, ...], root: Path) -> Step | None:
    """Return the step that a call is; None where it is about another file, or only asks."""
    if call in _MEMORY:
        return Step(number, _MEMORY[call], root, thread, arguments, True)
    name, kind = _CALLS[call]
    try:
        if kind in ("fd", "third"):
            path = Path(f"/proc/{thread}/fd/{arguments[2 if kind == 'third' else 0]}").readlink()
        else:
            path = _path(thread, kind, arguments)
    except (OSError, ValueError):
        return None  # no such open file: the kernel will say so
    if not path.is_relative_to(root):
        return None
    reads = name in ("read", "pread64")
    if name in ("open", "openat"):
        reads = not arguments[1 if name == "open" else 2] & _WRITING
    return Step(number, name, path, thread, arguments, reads)


def _path(thread: int, kind: str, arguments: tuple[int, ...]) -> Path:
    """Return the path that a call names, links not followed."""
    address = arguments[1 if kind == "at" else 0]
    given = Path(os.fsdecode(_memory(thread, address, 4096).partition(b"\0")[0]))
    folder = ctypes.c_int(arguments[0]).value if kind == "at" else _AT_FDCWD
    below = Path(f"/proc/{thread}/cwd" if folder == _AT_FDCWD else f"/proc/{thread}/fd/{folder}")
    return Path(os.path.normpath(below.readlink() / given))


def _memory(thread: int, address: int, length: int) -> bytes:
    with Path(f"/proc/{thread}/mem").open("rb", buffering=0) as memory:
        memory.seek(address)
        return memory.read(length)


def _child(run: Callable[[], int], log: Path, parent: socket.socket, watch: str | None) -> None:
    """Run in the new process, and end it."""
    code = 70
    try:
        os.setsid()
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell lets its background jobs ignore it
        output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
        for stream in (1, 2):
            os.dup2(output, stream)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        if watch is not None:
            calls = list(_MEMORY) if watch == "memory" else [*_CALLS]
            if watch == "changes":
                calls = [call for call in calls if call not in (0, 17)]
            socket.send_fds(parent, [b"."], [_listen(calls)])
        parent.close()
        code = run()
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException:
        import traceback

        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(code)


def _listen(calls: list[int]) -> int:
    """Have the kernel tell of these calls by this process and its threads; return where it tells."""
    program = b"".join(
        [
            struct.pack("HBBI", 0x20, 0, 0, 4),  # load the architecture
            struct.pack("HBBI", 0x15, 1, 0, _X86_64),
            struct.pack("HBBI", 0x06, 0, 0, _ALLOW),
            struct.pack("HBBI", 0x20, 0, 0, 0),  # load the number of the call
            *(struct.pack("HBBI", 0x15, len(calls) - place, 0, call) for place, call in enumerate(calls)),
            struct.pack("HBBI", 0x06, 0, 0, _ALLOW),
            struct.pack("HBBI", 0x06, 0, 0, _NOTIFY),
        ]
    )
    kept = ctypes.create_string_buffer(program)
    header = struct.pack("H6xP", len(program) // 8, ctypes.addressof(kept))
    if _libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl")
    listener = _libc.syscall(_SECCOMP, _SET_MODE_FILTER, _NEW_LISTENER, header)
    if listener < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return listener


NO_ROOM = {
    "write", "pwrite64", "writev", "pwritev", "sendfile", "copy_file_range", "fallocate", "ftruncate", "mkdir",
    "mkdirat", "rename", "renameat", "renameat2", "fsync", "fdatasync", "creat", "open", "openat",
}  # fmt: skip
"""The calls that a full disk refuses."""


def write_half(step: Step) -> None:
    """Write the first half of what a step would write, as a cut in the midst of it leaves it."""
    if step.call not in ("write", "pwrite64"):
        return
    _, address, length = step.arguments[:3]
    half = _memory(step.thread, address, length // 2)
    if step.call == "pwrite64":
        place = step.arguments[3]
    else:
        about = Path(f"/proc/{step.thread}/fdinfo/{step.file}").read_text()
        facts = dict(line.split(":\t") for line in about.splitlines())
        place = step.path.stat().st_size if int(facts["flags"], 8) & os.O_APPEND else int(facts["pos"])
    with Path(f"/proc/{step.thread}/fd/{step.file}").open("r+b", buffering=0) as file:
        os.pwrite(file.fileno(), half, place)
