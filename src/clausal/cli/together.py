"""Commands as one of several processes, which ``--processes`` or torchrun has started: to train, or to ask a run."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, redirect_stderr, redirect_stdout
from contextvars import ContextVar
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ParamSpec

import typer

from clausal.cli.inputs import declare
from clausal.cli.output import say
from clausal.cli.progress import Bars
from clausal.errors import InputError, count
from clausal.presets import BEST

if TYPE_CHECKING:
    from clausal.config import Settings
    from clausal.observer import Observer
    from clausal.peers import Peers
    from clausal.run import Run

ProcessesOption = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        help="Work in N processes of this machine, each of which has a part of the entity vectors; torchrun does so "
        "on several machines.",
    ),
]
WaitOption = Annotated[float, typer.Option(help="Seconds that processes wait for each other at the start.")]
SilenceOption = Annotated[
    float, typer.Option(min=5.0, help="Seconds without a sign of life after which a process counts as lost.")
]
TrustOption = Annotated[
    bool,
    typer.Option(
        "--trust-network", help="Let processes on several machines speak over a network that you trust, unencrypted."
    ),
]


def is_one_of_several(processes: int | None) -> bool:
    """Say whether this process works together with others; where it is to start them, do so and end with them."""
    together = "RANK" in os.environ and os.environ.get("WORLD_SIZE", "1") not in ("", "1")
    if processes is None:
        return together
    from clausal.peers.launching import check_processes, launch

    check_processes(processes)
    if processes > 1 and not together:
        raise typer.Exit(launch(processes, sys.argv[1:]))
    return together


def train_in_several(
    begin: Callable[[], Path],
    resumed: Path | None,
    told: Mapping[str, object],
    settings: Mapping[str, Any],
    wait: float,
    silence: float,
    trust_network: bool,
) -> Path | None:
    """Train as one of several processes; the first returns the run directory, and the others nothing.

    ``begin`` reads the graph and makes the run directory, in the first process; ``told`` and ``settings`` are what all
    of them must have been told alike.
    """
    from clausal.observer import Observer
    from clausal.peers.joining import Together, joined
    from clausal.run.training import train_together

    gpu = _on_own_gpu(str(settings.get("train.device", "auto")))
    card = {name: str(value) for name, value in {**told, **settings}.items() if value not in (None, False)}
    card["device"] = "cuda" if gpu else "cpu"
    with joined(card, gpu=gpu, wait=wait, trust_network=trust_network, silence=silence) as peers:
        assert isinstance(peers, Together)
        own: list[Path] = []

        def begin_or_resume() -> str:
            own.append(resumed or begin())
            return str(own[0].absolute())

        out = Path(peers.told_by_first(begin_or_resume))
        if not (out / "run.json").exists():
            raise InputError(
                f"process {peers.rank} cannot see {out}, which process 0 has made: give an --out on a file system that "
                "all machines share"
            )
        if peers.first:
            say(f"{count(peers.size, 'process', 'processes')}, each with a random part of the entity vectors")
            with Bars(doing="preparing") as bars:
                train_together(out, peers, bars)
            return own[0]
        train_together(out, peers, Observer())
    return None


def flat(settings: Settings) -> dict[str, Any]:
    """Return settings by their names, such as ``model.dim``."""
    values = settings.model_dump(mode="json")
    return {f"{section}.{name}": value for section, own in values.items() for name, value in own.items()}


def settings_told(
    preset: str | None, config: Path | None, assignments: Sequence[str], resumed: Path | None
) -> dict[str, Any]:
    """Return the settings that this process was told, before a graph is read."""
    from clausal.config import Settings

    if resumed is not None:
        from clausal.run.directory import RunDirectory

        return flat(RunDirectory.open(resumed).settings)
    if preset != BEST:
        return flat(Settings.load(config, assignments, preset=preset))
    values = {name.strip(): value for name, _, value in (one.partition("=") for one in assignments)}
    return values | ({"--config": config.read_text(encoding="utf-8")} if config else {})


def refuse_together(**given: object) -> None:
    """Refuse what several processes cannot do."""
    for option, value in given.items():
        if value:
            raise InputError(f"--{option} works in one process; leave it out, or leave out --processes and torchrun")


def asks_together(command: Callable[_P, None]) -> Callable[_P, None]:
    """Let a command that asks a run do so in several processes: give it the options for it, and ``asked_run``.

    All of them do the same. The first one speaks and writes for all.
    """

    @wraps(command)
    def alone_or_together(*arguments: Any, **options: Any) -> None:
        processes, *how = (options.pop(name) for name in _OPTIONS)
        if not is_one_of_several(processes):
            command(*arguments, **options)
            return
        with _joined_to_ask(options["run"], options["device"], *how) as peers:
            token = _PEERS.set(peers)
            try:
                with nullcontext() if peers.first else _silent():
                    command(*arguments, **options)
                peers.wait()  # or else one that is ready would look lost to the others
            finally:
                _PEERS.reset(token)

    declare(alone_or_together, command, _OPTIONS)
    return alone_or_together


_P = ParamSpec("_P")
_OPTIONS: dict[str, tuple[Any, Any]] = {
    "processes": (ProcessesOption, None),
    "wait": (WaitOption, 60.0),
    "silence": (SilenceOption, 25.0),
    "trust_network": (TrustOption, False),
}
_PEERS: ContextVar[Peers | None] = ContextVar("asking together", default=None)
"""The processes that the command runs in; None for one alone."""


def asked_run(path: Path, device: str, refused: Mapping[str, object], observer: Observer | None = None) -> Run:
    """Load the run that a command asks, or this process's part of it, where some options are refused."""
    from clausal.run import load

    peers = _PEERS.get()
    if peers is not None:
        refuse_together(**refused)
    return load(path, device=device, observer=observer, peers=peers)


def speaks_for_all() -> bool:
    """Say whether this process writes what the command found: one alone does, and the first of several."""
    peers = _PEERS.get()
    return peers is None or peers.first


@contextmanager
def _joined_to_ask(run: Path, device: str, wait: float, silence: float, trust_network: bool) -> Iterator[Peers]:
    from clausal.peers.joining import joined
    from clausal.run.directory import MODEL, RunDirectory

    directory = RunDirectory.open(run)
    gpu = _on_own_gpu(device)
    model = directory.path / MODEL
    card = {
        "command": shlex.join(sys.argv[1:]),
        "run": json.dumps(directory.about, sort_keys=True, default=str) if directory.finished else "unfinished",
        "size of the model": str(model.stat().st_size) if model.exists() else "none",
        "device": "cuda" if gpu else "cpu",
    }
    with joined(
        card, gpu=gpu, wait=wait, trust_network=trust_network, silence=silence, advice="nothing was written; ask again"
    ) as peers:
        yield peers


@contextmanager
def _silent() -> Iterator[None]:
    """Let nothing be seen of what a command prints but its error."""
    with Path(os.devnull).open("w") as nowhere, redirect_stdout(nowhere), redirect_stderr(nowhere):
        yield


def _on_own_gpu(device: str) -> bool:
    """Say whether this process works on a GPU, and choose the one that is its own among those of the machine."""
    import torch

    if device.partition(":")[0] not in ("auto", "cuda") or not torch.cuda.is_available():
        return False
    own, there = int(os.environ.get("LOCAL_RANK", "0")), torch.cuda.device_count()
    if own >= there:
        raise InputError(
            f"process {own} of this machine has no GPU of its own, as there {'is' if there == 1 else 'are'} {there}; "
            "start as many processes as GPUs, or choose the device cpu"
        )
    torch.cuda.set_device(own)
    return True
