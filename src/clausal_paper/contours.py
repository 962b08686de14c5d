"""The paper's contour figure: what one component of δ = b − r adds to the largest violation of b(X, Y) ⇒ r(X, Y).

ComplEx on the unit sphere and on the unit cube, drawn from the closed forms that training and certificates use.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from clausal.adversary import ClauseGroup, ClosedForm
from clausal.errors import InputError
from clausal.files import atomic_file, make_folder
from clausal.logic import parse_clause, shape_of
from clausal.model import ComplEx, Cube, Domain, LinkPredictor, Sphere, Table

Numbers = npt.NDArray[np.float64]
PANELS: dict[str, Domain] = {"Unit Sphere": Sphere(), "Unit Cube": Cube()}
ENDINGS = ("png", "pdf", "svg")
_REACH = 2.0  # δ is drawn from −2 to 2, in both parts
_SPACING = 0.5  # between two contours


@dataclass(frozen=True, eq=False)
class Contours:
    """The largest violation by real and imaginary part of one component of δ."""

    axis: Numbers  # [points]
    violations: dict[str, Numbers]  # by panel, [points of Im δ, points of Re δ]


def contours(points: int = 101) -> Contours:
    """Compute the figure on a square grid of δ, with an odd number of points so that 0 is one of them."""
    axis = torch.linspace(-_REACH, _REACH, points, dtype=torch.float64)
    imaginary, real = torch.meshgrid(axis, axis, indexing="ij")
    differences = torch.stack([real.flatten(), imaginary.flatten()], -1)
    violations = {
        name: largest_violation(differences, domain).reshape(points, points).numpy() for name, domain in PANELS.items()
    }
    return Contours(axis.numpy(), violations)


@torch.no_grad()
def largest_violation(differences: torch.Tensor, domain: Domain) -> torch.Tensor:
    """Return the closed form for a model of one complex component, for each δ [points, 2] → [points]."""
    count = len(differences)
    predictor = LinkPredictor(Table(1, 2), ComplEx(2), num_entities=1, num_relations=count + 1, domain=domain).double()
    predictor.relations.data = torch.cat([differences, torch.zeros(1, 2, dtype=torch.float64)])  # the last one is r
    clause = parse_clause("b(X, Y) => r(X, Y)")
    bodies = torch.arange(count)
    group = ClauseGroup(
        shape=shape_of(clause)[0],
        clauses=(clause,) * count,
        relations=torch.stack([bodies, torch.full_like(bodies, count)], 1),
        constants=torch.zeros(count, 0, dtype=torch.long),
        weights=torch.ones(count, dtype=torch.float64),
    )
    adversary = ClosedForm()
    return adversary.inconsistency(predictor, [group], adversary.find(predictor, [group]))


def draw(figure: Contours, folder: Path) -> list[Path]:
    """Write the figure as PNG, PDF and SVG into a folder, which is made where it is missing."""
    paint = _matplotlib()
    # Without a date and with ids from a fixed salt, the same figure is the same file.
    style = {"font.family": "serif", "mathtext.fontset": "cm", "font.size": 9, "svg.hashsalt": "clausal"}
    with paint.rc_context(style):
        drawn = paint.figure.Figure(figsize=(5.6, 3.1), layout="constrained")
        panels = drawn.subplots(1, len(figure.violations))
        for axes, letter, (name, values) in zip(panels, "ab", figure.violations.items(), strict=True):
            _panel(axes, figure.axis, values, f"({letter}) {name}")
        make_folder(folder)
        paths = [folder / f"contours.{ending}" for ending in ENDINGS]
        for path in paths:
            undated = {"pdf": {"CreationDate": None}, "svg": {"Date": None}}.get(path.suffix[1:])
            with atomic_file(path) as temporary:
                drawn.savefig(temporary, format=path.suffix[1:], dpi=200, metadata=undated)
    return paths


def _panel(axes: Any, axis: Numbers, values: Numbers, caption: str) -> None:
    levels = np.arange(0, 2 * _REACH + _SPACING, _SPACING)  # the same in both panels: 2 Re δ is the largest value
    axes.contourf(axis, axis, values, levels=levels, cmap="Blues", alpha=0.6)
    lines = axes.contour(axis, axis, values, levels=levels[1:], colors="black", linewidths=0.6)
    axes.clabel(lines, fmt="%g", fontsize=6.5, inline_spacing=2)
    axes.axhline(0, color="grey", linewidth=0.4)
    axes.axvline(0, color="grey", linewidth=0.4)
    axes.set(xlabel=r"Re $\delta_i$", ylabel=r"Im $\delta_i$", aspect="equal")
    axes.set(xticks=np.arange(-_REACH, _REACH + 1), yticks=np.arange(-_REACH, _REACH + 1))
    axes.set_title(caption, y=-0.36, fontsize=9)


def _matplotlib() -> Any:
    try:
        import matplotlib
        import matplotlib.figure
    except ImportError:
        raise InputError("figures need matplotlib; install it by: pip install 'clausal[plots]'") from None
    return matplotlib
