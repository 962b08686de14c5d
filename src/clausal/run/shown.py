"""How a run looks: as a line, in a notebook, and what is around one of its entities."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from clausal.errors import count

if TYPE_CHECKING:
    from clausal.run.entity_view import EntityView
    from clausal.run.run import Run


class Shown:
    """What a person sees of a run."""

    def __repr__(self) -> str:
        run = cast("Run", self)
        split, mrr = _result(run.metrics)
        result = "" if mrr is None else f", MRR {mrr:.3f} on {split}"
        clauses = f" with {count(len(run.clauses), 'clause')}" if run.clauses else ""
        where = "" if run.path is None else f", in {run.path}"
        return f"<Run {run.settings.model.scorer} of {run.graph.name}{clauses}{result}{where}>"

    def _repr_html_(self) -> str:
        from clausal.drawing import notebook
        from clausal.run.html import run_html

        return notebook(run_html(cast("Run", self)))

    def show(self, entity: str, *, nodes: int = 30, k: int = 10) -> EntityView:
        """Show what is around an entity: known facts and what follows from them, drawn, and the k best new facts.

        In a notebook it is a picture with a table; ``view.to_html()`` is the same as text. At most ``nodes`` entities
        are drawn.
        """
        from clausal.run.entity_view import view_entity

        return view_entity(cast("Run", self), entity, nodes, k)


def _result(metrics: Mapping[str, Any]) -> tuple[str, float | None]:
    """Return on what a run was measured, and its MRR; None where its metrics do not say it."""
    split = "test" if "test" in metrics else "valid"
    try:
        return split, float(metrics[split]["filtered"]["both"]["mrr"])
    except (KeyError, TypeError, ValueError):
        return split, None
