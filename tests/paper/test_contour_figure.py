"""The contour figure shows the paper's closed forms, and values that a search over the domain agrees with."""

import sys

import numpy as np
import pytest
import torch

from clausal.errors import InputError
from clausal_paper.contours import PANELS, contours, draw, largest_violation


def test_panels_are_the_papers_formulas():
    figure = contours(points=21)
    real, imaginary = np.meshgrid(figure.axis, figure.axis)
    assert figure.violations["Unit Sphere"] == pytest.approx(np.hypot(real, imaginary), abs=1e-12)
    cube = np.maximum(real, 0) + np.maximum(real, np.abs(imaginary))
    assert figure.violations["Unit Cube"] == pytest.approx(cube, abs=1e-12)


@pytest.mark.parametrize("name", PANELS)
def test_no_vectors_of_the_domain_violate_more_and_some_nearly_as_much(name):
    domain, generator = PANELS[name], torch.Generator().manual_seed(0)
    differences = 4 * torch.rand(30, 2, generator=generator, dtype=torch.float64) - 2
    x, y = (domain.sample((200_000, 2), generator).double() for _ in range(2))
    x, y = (torch.view_as_complex(domain.project(1.6 * side - 0.3)) for side in (x, y))  # corners too
    delta = torch.view_as_complex(differences)
    searched = torch.stack([(d * x * y.conj()).real.max().clamp_min(0) for d in delta])
    largest = largest_violation(differences, domain)
    assert (searched <= largest + 1e-6).all()
    assert (searched >= 0.93 * largest - 1e-6).all()


def test_the_figure_is_written_in_three_formats_and_is_the_same_each_time(tmp_path):
    figure = contours(points=11)
    paths = draw(figure, tmp_path / "new" / "folder")
    starts = {".png": b"\x89PNG", ".pdf": b"%PDF", ".svg": b"<?xml"}
    assert {path.suffix for path in paths} == set(starts)
    for path, again in zip(paths, draw(figure, tmp_path), strict=True):
        assert path.read_bytes().startswith(starts[path.suffix])
        assert again.read_bytes() == path.read_bytes()


def test_without_matplotlib_the_message_says_how_to_install_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(InputError, match=r"pip install 'clausal\[plots\]'"):
        draw(contours(points=3), tmp_path / "figures")
    assert not (tmp_path / "figures").exists()
