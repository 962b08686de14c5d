"""How Numba compiles the kernels."""

from __future__ import annotations

from typing import Any

OPTIONS: dict[str, Any] = {
    "nogil": True,
    "error_model": "numpy",
    "fastmath": {"reassoc", "contract", "nsz", "arcp"},  # sums in any order, but NaN stays NaN
}
KERNEL = OPTIONS | {"cache": True}
"""What Python calls, compiled once for all processes."""
PART = OPTIONS | {"inline": "always"}
"""What kernels call: put into them, where constants are known and loops over terms disappear.

Numba compiles a kernel again when its own file changes, not when that of a part does: after a change there, remove
``__pycache__``.
"""
