"""Reports for people: a run as one page that needs no network and no script, and several runs side by side."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from clausal.report.compare import RunComparison, compare_runs
    from clausal.report.page import make_report
    from clausal.report.side_by_side import comparison_page

_MODULE_OF = {
    "RunComparison": "compare",
    "compare_runs": "compare",
    "comparison_page": "side_by_side",
    "make_report": "page",
}

__all__ = ["RunComparison", "compare_runs", "comparison_page", "make_report"]


def __getattr__(name: str) -> Any:
    """Import names on first use: a report needs no comparison."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'clausal.report' has no attribute {name!r}")
    return getattr(import_module(f"clausal.report.{_MODULE_OF[name]}"), name)


def __dir__() -> list[str]:
    """Show the public names."""
    return list(__all__)
