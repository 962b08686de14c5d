"""The largest form over discs: the phases of three complex variables, a program for some components of a clause."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

_BLOCK = 256
_ROUNDS = tl.constexpr(20)


def scores_at_best_phases(
    matrices: Tensor, weights: Tensor, radius: Tensor, places: Sequence[int], turned: Sequence[bool]
) -> Tensor:
    """Return the scores of atoms [clauses, atoms] where their weighted sum is largest, differentiable in the matrices.

    ``matrices`` [clauses, atoms, components, 2, 2] are complex numbers, ``weights`` [clauses, atoms], ``radius``
    [clauses, variables, components]. An atom's place says which variables it is of, 0: x₀ and x₁, 1: x₁ and x₂, 2: x₀
    and x₂; it is turned if the later one is its subject.
    """
    code = sum((2 * place + turn) << (3 * atom) for atom, (place, turn) in enumerate(zip(places, turned, strict=True)))
    scores: Tensor = _BestScores.apply(matrices, weights, radius, code)
    return scores


class _BestScores(torch.autograd.Function):
    """At a maximum the phases stay where they are to first order, so that scores are linear in the matrices."""

    @staticmethod
    def forward(ctx: Any, matrices: Tensor, weights: Tensor, radius: Tensor, code: int) -> Tensor:
        matrices, weights = matrices.contiguous(), weights.contiguous()
        clauses, atoms, components = matrices.shape[:3]
        blocks = triton.cdiv(components, _BLOCK)
        scores, slopes = matrices.new_empty(clauses, blocks, atoms), torch.empty_like(matrices)
        find_best_phases[(clauses, blocks)](
            matrices, weights, radius, scores, slopes, *radius.stride(),
            components=components, atoms=atoms, variables=radius.shape[1], code=code, block=_BLOCK, num_warps=2,
        )  # fmt: skip
        ctx.save_for_backward(slopes)
        return scores.sum(1)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None, None]:
        (slopes,) = ctx.saved_tensors
        return slopes * gradients[0][:, :, None, None, None], None, None, None


@triton.jit  # type: ignore[untyped-decorator]
def find_best_phases(  # type: ignore[no-untyped-def]
    matrices, weights, radius, scores, slopes, by_clause, by_variable, by_component,
    components: tl.constexpr, atoms: tl.constexpr, variables: tl.constexpr, code: tl.constexpr, block: tl.constexpr,
):  # fmt: skip
    """Find x₁ and x₂ of modulus 1 where Re(a x₁ + b x̄₁x₂ + c x₂) is largest, and score each atom there."""
    clause, part, parts = tl.program_id(0).to(tl.int64), tl.program_id(1), tl.num_programs(1)
    i = part * block + tl.arange(0, block)
    inside = i < components
    limits = radius + clause * by_clause + i * by_component
    r0 = tl.load(limits, mask=inside, other=0.0)
    r1 = tl.load(limits + by_variable, mask=inside, other=0.0)
    r2 = r1
    if variables > 2:
        r2 = tl.load(limits + 2 * by_variable, mask=inside, other=0.0)
    a_re, a_im, b_re, b_im = r0 * 0.0, r0 * 0.0, r0 * 0.0, r0 * 0.0
    c_re, c_im = r0 * 0.0, r0 * 0.0
    for atom in tl.static_range(atoms):
        at = matrices + ((clause * atoms + atom) * components + i) * 4
        weight = tl.load(weights + clause * atoms + atom)
        re = weight * tl.load(at, mask=inside, other=0.0)
        im = weight * tl.load(at + (2 - (code >> 3 * atom) % 2), mask=inside, other=0.0)
        if (code >> 3 * atom) % 8 // 2 == 0:
            a_re += r0 * r1 * re
            a_im += r0 * r1 * im
        elif (code >> 3 * atom) % 8 // 2 == 1:
            b_re += r1 * r2 * re
            b_im += r1 * r2 * im
        else:
            c_re += r0 * r2 * re
            c_im += r0 * r2 * im
    a, b, c = tl.sqrt(a_re * a_re + a_im * a_im), tl.sqrt(b_re * b_re + b_im * b_im), tl.sqrt(c_re * c_re + c_im * c_im)
    ua_re, ua_im = tl.where(a > 0, a_re / a, 1.0), tl.where(a > 0, a_im / a, 0.0)
    ub_re, ub_im = tl.where(b > 0, b_re / b, 1.0), tl.where(b > 0, b_im / b, 0.0)
    uc_re, uc_im = tl.where(c > 0, c_re / c, 1.0), tl.where(c > 0, c_im / c, 0.0)
    # The way from the phase of x₂ that is best for c to that best for a and b: cosine, and sine without its sign.
    ab_re, ab_im = ua_re * ub_re - ua_im * ub_im, ua_re * ub_im + ua_im * ub_re
    cosine, sine = ab_re * uc_re + ab_im * uc_im, ab_im * uc_re - ab_re * uc_im
    sign = tl.where(sine < 0, -1.0, 1.0)
    sine = sine * sign
    # Half the way, which is at most a half turn; every further half by the tangent of a smaller angle.
    half_cos = tl.sqrt(tl.maximum((1 + cosine) / 2, 0.0))
    half_sin = tl.sqrt(tl.maximum((1 - cosine) / 2, 0.0))
    gone_cos, gone_sin = r0 * 0.0 + 1.0, r0 * 0.0
    for _ in range(_ROUNDS):
        try_cos, try_sin = gone_cos * half_cos - gone_sin * half_sin, gone_sin * half_cos + gone_cos * half_sin
        left_cos, left_sin = cosine * try_cos + sine * try_sin, sine * try_cos - cosine * try_sin
        root = tl.sqrt(tl.maximum(a * a + b * b + 2 * a * b * left_cos, 0.0))
        rising = a * b * left_sin > c * try_sin * root
        gone_cos, gone_sin = tl.where(rising, try_cos, gone_cos), tl.where(rising, try_sin, gone_sin)
        quarter = tl.sqrt((1 + half_cos) / 2)
        half_sin = half_sin / (2 * quarter)
        half_cos = quarter
    norm = tl.sqrt(gone_cos * gone_cos + gone_sin * gone_sin)
    gone_cos, gone_sin = gone_cos / norm, -sign * gone_sin / norm
    x2_re, x2_im = uc_re * gone_cos + uc_im * gone_sin, uc_re * gone_sin - uc_im * gone_cos
    w_re, w_im = a_re + b_re * x2_re - b_im * x2_im, a_im - b_re * x2_im - b_im * x2_re
    w = tl.sqrt(w_re * w_re + w_im * w_im)
    x1_re, x1_im = tl.where(w > 0, w_re / w, 1.0), tl.where(w > 0, -w_im / w, 0.0)
    y_re, y_im = x2_re * x1_re + x2_im * x1_im, x2_im * x1_re - x2_re * x1_im
    for atom in tl.static_range(atoms):
        at = ((clause * atoms + atom) * components + i) * 4
        if (code >> 3 * atom) % 8 // 2 == 0:
            by_re, by_im = r0 * r1 * x1_re, -r0 * r1 * x1_im
        elif (code >> 3 * atom) % 8 // 2 == 1:
            by_re, by_im = r1 * r2 * y_re, -r1 * r2 * y_im
        else:
            by_re, by_im = r0 * r2 * x2_re, -r0 * r2 * x2_im
        re = tl.load(matrices + at, mask=inside, other=0.0)
        im = tl.load(matrices + at + (2 - (code >> 3 * atom) % 2), mask=inside, other=0.0)
        tl.store(
            scores + (clause * parts + part) * atoms + atom, tl.sum(tl.where(inside, by_re * re + by_im * im, 0.0))
        )
        tl.store(slopes + at, by_re, mask=inside)
        tl.store(slopes + at + (2 - (code >> 3 * atom) % 2), by_im, mask=inside)
        tl.store(slopes + at + (1 + (code >> 3 * atom) % 2), by_re * 0.0, mask=inside)
        tl.store(slopes + at + 3, by_re * 0.0, mask=inside)
