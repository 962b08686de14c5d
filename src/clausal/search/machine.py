"""What the machine offers a training: a GPU or cores, and memory."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import torch

from clausal.training.train import find_device

_CONTAINER = Path("/sys/fs/cgroup/memory.max")


@dataclass(frozen=True)
class Machine:
    """A GPU, or else the cores of a CPU, and the bytes of memory that go with it."""

    gpu: bool
    cores: int
    memory: int


def this_machine(device: str = "auto") -> Machine:
    """Look at the device that a training with ``train.device`` would use."""
    found = find_device(device)
    if found.type == "cuda":
        return Machine(True, 1, torch.cuda.get_device_properties(found).total_memory)
    return Machine(False, torch.get_num_threads(), _main_memory())


def _main_memory() -> int:
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    try:
        return min(memory, int(_CONTAINER.read_text(encoding="ascii")))
    except (OSError, ValueError):  # no container, or one without a limit
        return memory
