"""How processes meet: each finds the others, compares what it was told with what they were told, and joins them.

Who starts them says who they are in the environment, as torchrun does: ``RANK``, ``WORLD_SIZE`` and where to meet. On
one machine everything goes through the loopback device, where no other machine can listen. What is exchanged is neither
encrypted nor signed, so that a network between machines must be one that the user trusts, and has to be named so.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import clausal
from clausal.errors import InputError, RunError
from clausal.peers.group import ALONE, RESUME, Group, Peers
from clausal.peers.heartbeat import Heartbeat
from clausal.peers.interfaces import interface_towards

if TYPE_CHECKING:
    from torch.distributed import Store  # type: ignore[attr-defined]

MEETING = "CLAUSAL_MEETING"
"""Names, in the environment, the folder in which processes meet that clausal itself has started on this machine."""
ENDED = "process 0 has ended"
"""What another process says when the first one could not do what all were waiting for."""
PATIENCE = timedelta(hours=6)
"""How long an exchange may wait for a process that lives and is slow, as one that writes for all of them."""
SILENCE = 25.0
"""Seconds without a sign of life after which a process counts as lost; one that has ended is noticed at once."""
_POLL = 0.1
_VERSIONS = ("clausal", "torch")


def number_of_processes() -> int:
    """Return how many processes were started together, as the environment says; 1 where it says nothing."""
    return _number("WORLD_SIZE", 1)


def is_started_together() -> bool:
    """Say whether this process was started as one of several, or of one, by torchrun or by clausal."""
    return "WORLD_SIZE" in os.environ and "RANK" in os.environ


@contextmanager
def joined(
    card: Mapping[str, str],
    *,
    gpu: bool,
    wait: float,
    trust_network: bool,
    silence: float = SILENCE,
    advice: str = RESUME,
) -> Iterator[Peers]:
    """Join the other processes, if there are any, and leave them at the end.

    ``card`` is what all of them must have been told alike, such as settings. A process that does not come within
    ``wait`` seconds, or comes with another card, ends all of them, and so does one that is silent for ``silence``
    seconds later on; ``advice`` is what a user can do then.
    """
    size = number_of_processes()
    if size == 1:
        yield ALONE
        return
    from torch import distributed

    rank = _number("RANK", 0)
    if not 0 <= rank < size:
        raise InputError(f"RANK is {rank}, but WORLD_SIZE is {size}: expected a number below it; start by torchrun")
    _choose_network(size, trust_network)
    store = _meet(rank, size, wait)
    _compare_cards(store, rank, size, card, wait)
    own = store.clone()  # type: ignore[attr-defined]  # a connection of its own
    heartbeat = Heartbeat(own, rank, size, silence, advice=advice)
    try:
        with _explained(rank, size, wait):
            distributed.init_process_group(
                "nccl" if gpu else "gloo",
                store=distributed.PrefixStore("exchange", store),  # type: ignore[attr-defined]
                rank=rank,
                world_size=size,
                timeout=PATIENCE,
            )
        yield Together(store, advice)
        heartbeat.leave()
    finally:
        heartbeat.stop()
        with suppress(Exception):  # a process that is gone already
            distributed.destroy_process_group()


class Together(Group):
    """Processes that have joined, and a board on which one can leave a message for the others."""

    def __init__(self, store: Store, advice: str = RESUME) -> None:
        super().__init__(advice=advice)
        self._store = store
        self._messages = 0
        self._parent = os.getppid()

    def told_by_first(self, work: Callable[[], str]) -> str:
        """Let the first process do some work, and tell the others what it returns; what ends it ends them too."""
        self._messages += 1
        key = f"told/{self._messages}"
        if self.first:
            try:
                text = work()
            except BaseException as error:
                self._store.set(key, json.dumps({"ended": str(error) or type(error).__name__}))
                raise
            self._store.set(key, json.dumps({"told": text}))
            return text
        answer = json.loads(self._wait_for(key))
        if "ended" in answer:
            raise RunError(f"{ENDED}: {answer['ended']}")
        return str(answer["told"])

    def _wait_for(self, key: str) -> bytes:
        """Wait for a message, however long its work takes; who started the processes ends them if that one dies.

        Where the processes meet in a folder, which cannot tell that process 0 is gone, nobody would end this one if the
        parent were gone too.
        """
        while True:
            if os.environ.get(MEETING) and os.getppid() != self._parent:
                raise RunError("the process that has started this one is gone, so this one ends too")
            try:
                if self._store.check([key]):
                    found: bytes = self._store.get(key)
                    return found
            except RuntimeError as error:
                raise RunError(f"process 0 cannot be reached any more: {str(error).splitlines()[0][:200]}") from None
            time.sleep(_POLL)


def _choose_network(size: int, trust_network: bool) -> None:
    """Stay on this machine where all processes are; else ask for the user's word that the network is trusted."""
    if _number("LOCAL_WORLD_SIZE", 0) == size:
        loopback = "lo0" if os.uname().sysname == "Darwin" else "lo"
        for variable in ("GLOO_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME"):
            os.environ.setdefault(variable, loopback)
        return
    if not trust_network:
        address = os.environ.get("MASTER_ADDR", "another machine")
        raise InputError(
            f"the processes meet at {address}, over a network. What they exchange is neither encrypted nor signed: add "
            "--trust-network if only machines that you trust can reach it"
        )
    interface = interface_towards(os.environ.get("MASTER_ADDR", ""))
    if interface is not None:  # else gloo takes the one of this machine's name, which many systems give to loopback
        os.environ.setdefault("GLOO_SOCKET_IFNAME", interface)


def _meet(rank: int, size: int, wait: float) -> Store:
    from torch import distributed

    folder = os.environ.get(MEETING)
    with _explained(rank, size, wait):
        if folder:
            store: Store = distributed.FileStore(str(Path(folder) / "store"), size)  # type: ignore[attr-defined]
            store.set_timeout(timedelta(seconds=wait))
            return store
        for variable in ("MASTER_ADDR", "MASTER_PORT"):
            if variable not in os.environ:
                raise InputError(f"{variable} is not set, so the processes cannot meet; start them by torchrun")
        meeting = distributed.rendezvous("env://", timeout=timedelta(seconds=wait))  # type: ignore[attr-defined]
        store, *_ = next(iter(meeting))
        return store


def _compare_cards(store: Store, rank: int, size: int, card: Mapping[str, str], wait: float) -> None:
    """Show the own card and look at all others; all processes see the same cards, and refuse the same one."""
    from torch import __version__

    own = {"clausal": clausal.__version__, "torch": str(__version__), **card}
    with _explained(rank, size, wait):
        store.set(f"card/{rank}", json.dumps(own))
    until = time.monotonic() + wait
    cards: list[dict[str, Any]] = []
    for other in range(size):
        with _explained(rank, size, wait):
            while not store.check([f"card/{other}"]):
                if time.monotonic() > until:
                    raise RunError(
                        f"process {other} of {size} has not come within {wait:g} s; start it with the same command, or "
                        "wait longer for it with --wait"
                    )
                time.sleep(_POLL)
            cards.append(json.loads(store.get(f"card/{other}")))
    for other, shown in enumerate(cards):
        difference = _first_difference(cards[0], shown)
        if difference is not None:
            name, expected, found = difference
            what = f"version {found} of {name}" if name in _VERSIONS else f"{name} = {found}"
            raise InputError(
                f"process {other} has {what}, but process 0 has {expected}: all processes need the same versions and "
                "the same command"
            )


def _first_difference(expected: Mapping[str, Any], found: Mapping[str, Any]) -> tuple[str, Any, Any] | None:
    for name in [*expected, *(name for name in found if name not in expected)]:
        if expected.get(name) != found.get(name):
            return name, expected.get(name, "nothing"), found.get(name, "nothing")
    return None


@contextmanager
def _explained(rank: int, size: int, wait: float) -> Iterator[None]:
    """Turn what torch says when processes do not find each other into one message."""
    try:
        yield
    except RuntimeError as error:
        text, port = str(error), os.environ.get("MASTER_PORT", "")
        if "EADDRINUSE" in text or "address already in use" in text.lower():
            raise RunError(
                f"port {port} is in use by another program; give torchrun another --master-port (or --rdzv-endpoint)"
            ) from None
        where = os.environ.get(MEETING) or f"{os.environ.get('MASTER_ADDR', '')}:{port}"
        raise RunError(
            f"process {rank} of {size} did not meet the others at {where} within {wait:g} s: is every one of them "
            f"started, and can this machine reach them? (torch says: {text.strip().splitlines()[0][:200]})"
        ) from None


def _number(variable: str, default: int) -> int:
    text = os.environ.get(variable, "")
    if not text:
        return default
    if not text.isdecimal():
        raise InputError(f"{variable} is {text!r}; expected a number, as torchrun sets it")
    return int(text)
