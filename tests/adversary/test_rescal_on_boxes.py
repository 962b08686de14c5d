"""RESCAL on boxes, which is NP-hard: bounds that nothing exceeds, and close ones for few numbers."""

from __future__ import annotations

import pytest
import torch
from searching import largest_found

from clausal.adversary import certify
from clausal.model import Box, Cube
from random_models import groups_of, random_predictor


@pytest.mark.parametrize("dim", [3, 8, 60])
@pytest.mark.parametrize("text", ["p(X,X) => q(X,X)", "p(X,Y) => p(X,X)", "p(X,Y), q(Y,'e1') => r(X,Y)"])
def test_one_block_of_the_whole_vector_is_bounded_as_a_quadratic_form(text, dim):
    """RESCAL: nearly exact in few dimensions, where boxes are halved; by eigenvalues in many; never exceeded."""
    for domain in (Cube(), Box(-0.5, 0.75)):
        predictor = random_predictor("rescal", domain, dim=dim, seed=1, dtype=torch.float64)
        (group,) = groups_of(text)
        (certificate,) = certify(predictor, [group])
        bound = certificate.bound.item()
        assert 0 < largest_found(predictor, group, sets=8, steps=30) <= bound + 1e-9
        assert bound < torch.inf
        if dim == 3:
            assert certificate.gap.item() <= (0.01 if len(group.shape.atoms) == 2 else 0.1)


def test_halving_boxes_finds_the_largest_quadratic_form_of_corners():
    """A form without negative curvature is largest at a corner, and all corners can be tried."""
    predictor = random_predictor("rescal", Box(-1.0, 1.0), dim=8, seed=3, dtype=torch.float64)
    root = torch.randn(8, 8, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    predictor.relations.data[0] = -(root @ root.T).flatten()
    (certificate,) = certify(predictor, groups_of("p(X,X)"))
    corners = torch.cartesian_prod(*[torch.tensor([-1.0, 1.0], dtype=torch.float64)] * 8)
    largest = (corners @ root).square().sum(-1).max().item()
    assert largest - 1e-9 <= certificate.bound.item() <= 1.02 * largest
    assert certificate.attained.item() == pytest.approx(largest, rel=1e-6)
