"""A comparison of runs as HTML and as rows of tables."""

from __future__ import annotations

from typing import Any

from clausal.drawing import Html, join, page, paragraphs, table, tag
from clausal.graph.display import DisplayNames
from clausal.report.compare import MEASURES, Difference, RunComparison
from clausal.report.page import in_sections

TITLES = {"mrr": "MRR", "hits@1": "Hits@1", "hits@3": "Hits@3", "hits@10": "Hits@10"}


def comparison_page(found: RunComparison, names: DisplayNames | None = None) -> Html:
    """Return a comparison as a page that needs no network and no script."""
    title = f"{found.graph}: {', '.join(found.labels)}"
    header = tag("header", tag("h1", title), paragraphs(about(found)))
    return page(title, header, *in_sections(_sections(found, names)))


def comparison_html(found: RunComparison, names: DisplayNames | None = None) -> Html:
    """Return a comparison as a part of a page."""
    sections = _sections(found, names).items()
    return join([paragraphs(about(found)), *(join([tag("h3", name), content]) for name, content in sections)])


def about(found: RunComparison) -> str:
    """Say what is compared and how."""
    return (
        f"Filtered ranking of {found.split} by {found.ranking}. Differences are from {found.labels[0]}, with 95 % "
        "intervals by a paired bootstrap over the facts: one that holds 0 may be chance. They do not cover other seeds."
    )


def _sections(found: RunComparison, names: DisplayNames | None) -> dict[str, Html]:
    return {
        "Metrics": table(metric_rows(found), numbers=[f"{title} more" for title in TITLES.values()]),
        "Settings that differ": table(found.settings) or paragraphs("None: the runs differ in nothing but chance."),
        "Facts whose rank changed most": table(moved_rows(found, names)) or paragraphs("None: all ranks are the same."),
    }


def metric_rows(found: RunComparison) -> list[dict[str, Any]]:
    """Return a row for each run and part: metrics, and how much more of each than the first run."""
    return [
        {
            "run": one.run,
            "facts ranked": one.part,
            "facts": one.facts,
            **{TITLES[name]: one.metrics[name] for name in MEASURES},
            **{f"{TITLES[name]} more": written(one.differences.get(name)) for name in ("mrr", "hits@10")},
        }
        for one in found.measured
    ]


def number_rows(found: RunComparison) -> list[dict[str, Any]]:
    """Return the same as numbers alone, all metrics with their differences and the ends of the intervals."""
    rows = []
    for one in found.measured:
        row: dict[str, Any] = {"run": one.run, "facts ranked": one.part, "facts": one.facts, **one.metrics}
        for name in MEASURES:
            difference = one.differences.get(name)
            values = (None, None, None) if difference is None else difference
            row |= dict(zip((f"{name} more", f"{name} low", f"{name} high"), values, strict=True))
        rows.append(row)
    return rows


def written(difference: Difference | None) -> str | None:
    """Write a difference with its interval."""
    if difference is None:
        return None
    return f"{difference.value:+.3f} [{difference.low:+.3f}, {difference.high:+.3f}]"


def moved_rows(found: RunComparison, names: DisplayNames | None = None) -> list[dict[str, Any]]:
    """Return a row for each fact whose rank changed most."""
    return [
        {
            "run": one.run,
            "fact": str(one.fact) if names is None else names.fact(one.fact),
            "hidden": one.hidden,
            f"rank in {found.labels[0]}": f"{one.before:,g}",
            "rank in run": f"{one.after:,g}",
        }
        for one in found.moved
    ]
