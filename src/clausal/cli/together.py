"""``clausal train`` as one of several processes, which ``--processes`` or torchrun has started."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from clausal.cli.output import say
from clausal.cli.progress import Bars
from clausal.errors import InputError, count
from clausal.presets import BEST

if TYPE_CHECKING:
    from clausal.config import Settings

ProcessesOption = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        help="Train in N processes of this machine, each of which has a part of the entity vectors; torchrun does so "
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
    """Say whether this process trains together with others; where it is to start them, do so and end with them."""
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
    import torch

    from clausal.observer import Observer
    from clausal.peers.joining import Together, joined
    from clausal.run.training import train_together

    gpu = _on_gpus(str(settings.get("train.device", "auto")))
    if gpu:
        torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", "0")))
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
            raise InputError(f"--{option} trains in one process; leave it out, or leave out --processes and torchrun")


def _on_gpus(device: str) -> bool:
    import torch

    return device.partition(":")[0] in ("auto", "cuda") and torch.cuda.is_available()
