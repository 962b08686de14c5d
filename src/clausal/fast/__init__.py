"""Fast forms of what the other rooms do, each the same mathematics as the reference it stands for.

``catalogue.py`` lists them. This package is asked through ``fastest`` and asks nobody.
"""

from typing import TYPE_CHECKING, Any

from clausal.fast.registry import (
    FastForm,
    FormChoice,
    current_choice,
    fastest,
    register,
    registered,
    unregister,
    why_not,
)

if TYPE_CHECKING:
    from clausal.fast.recording import Recording

__all__ = [
    "FastForm",
    "FormChoice",
    "Recording",
    "current_choice",
    "fastest",
    "register",
    "registered",
    "unregister",
    "why_not",
]


def __getattr__(name: str) -> Any:
    """Import what needs torch on first use."""
    if name == "Recording":
        from clausal.fast.recording import Recording

        return Recording
    raise AttributeError(f"module 'clausal.fast' has no attribute {name!r}")
