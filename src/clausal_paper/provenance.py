"""Where a figure comes from: versions, hardware and date, as every results file has them."""

from __future__ import annotations

import os
import platform
from datetime import UTC, datetime
from typing import Any

import torch

import clausal


def provenance(device: str = "cuda") -> dict[str, Any]:
    """Describe this program and this machine, without naming it; of a GPU only where ``device`` is not ``cpu``."""
    return {
        "versions": {
            "clausal": clausal.__version__,
            "torch": torch.__version__,
            "python": platform.python_version(),
        },
        "hardware": hardware(device),
        "threads": torch.get_num_threads(),
        "date": datetime.now(UTC).date().isoformat(),
    }


def hardware(device: str = "cuda") -> str:
    """Name the GPU, or else the kind of machine and its cores."""
    if device != "cpu" and torch.cuda.is_available():
        return torch.cuda.get_device_name()
    return f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"
