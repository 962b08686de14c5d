"""The linear forms of a violation as kernels read them."""

from __future__ import annotations

from functools import cache
from itertools import accumulate

import torch

from clausal.consistency.forms import violation_forms
from clausal.consistency.semantics import Semantics
from clausal.kernels import Forms
from clausal.logic.shape import Skeleton


@cache
def packed_forms(formula: Skeleton, semantics: Semantics) -> Forms | None:
    """Return the forms of all alternatives, one after the other; None where a violation is not made of forms."""
    alternatives = violation_forms(formula, semantics)
    if not alternatives:
        return None
    return Forms(
        torch.cat([forms.matrix for forms in alternatives]).float(),
        torch.cat([forms.offsets for forms in alternatives]).float(),
        torch.tensor(list(accumulate(len(forms.offsets) for forms in alternatives))),
    )
