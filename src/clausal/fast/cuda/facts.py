"""The gradient of the fact loss on a GPU: a program for each fact and its corruptions, with atomic sums.

``clausal.fast.cpu.facts`` has the equations, and the same names. A vector has one part or two, x₀ and x₁, so that
φ_r(x, y) = Σ w_ρσω Σᵢ r_ρ[i] x_σ[i] y_ω[i] has at most eight terms, whose weights are known when a kernel is compiled.
"""

from __future__ import annotations

import triton
import triton.language as tl

from clausal.fast.kernels import LOSS_NUMBERS

_PAIRWISE = tl.constexpr(LOSS_NUMBERS["pairwise"])
_LOGISTIC = tl.constexpr(LOSS_NUMBERS["logistic"])


@triton.jit  # type: ignore[untyped-decorator]
def add_fact_gradients(  # type: ignore[no-untyped-def]
    entities, relations, entity_gradient, relation_gradient, facts, subjects, objects, weights, losses, margin, count,
    negatives: tl.constexpr, loss: tl.constexpr, weighted: tl.constexpr,
    w000: tl.constexpr, w001: tl.constexpr, w010: tl.constexpr, w011: tl.constexpr,
    w100: tl.constexpr, w101: tl.constexpr, w110: tl.constexpr, w111: tl.constexpr,
    parts: tl.constexpr, relation_parts: tl.constexpr, width: tl.constexpr, block: tl.constexpr,
):  # fmt: skip
    """Add ∇J_F of a fact to the gradients, and store its J_F."""
    j = tl.program_id(0)
    relation = tl.load(facts + 3 * j + 1)
    at_s = tl.load(facts + 3 * j) * (parts * width)
    at_r = relation * (relation_parts * width)
    at_o = tl.load(facts + 3 * j + 2) * (parts * width)
    subject_weight = 1.0
    if weighted:
        subject_weight = tl.load(weights + relation)
    s0, s1 = _load(entities + at_s, parts, width, block)
    r0, r1 = _load(relations + at_r, relation_parts, width, block)
    o0, o1 = _load(entities + at_o, parts, width, block)
    a0, a1 = _by_subject(r0, r1, o0, o1, w000, w001, w010, w011, w100, w101, w110, w111)
    b0, b1 = _by_object(r0, r1, s0, s1, w000, w001, w010, w011, w100, w101, w110, w111)
    score = tl.sum(b0 * o0 + b1 * o1)
    c = tl.full([], 0.0, tl.float32)
    total = tl.full([], 0.0, tl.float32)
    beyond = score  # what a corruption's score is compared to
    if loss != _PAIRWISE:
        slope, total = _term(loss, margin, -score)
        c = -slope
        beyond = 0.0
    x0 = tl.zeros([block], tl.float32)
    x1 = tl.zeros([block], tl.float32)
    y0 = tl.zeros([block], tl.float32)
    y1 = tl.zeros([block], tl.float32)
    for k in range(negatives):
        at_x = tl.load(subjects + k * count + j) * (parts * width)
        at_y = tl.load(objects + k * count + j) * (parts * width)
        v0, v1 = _load(entities + at_x, parts, width, block)
        slope, value = _term(loss, margin, tl.sum(a0 * v0 + a1 * v1) - beyond)
        slope *= subject_weight
        total += subject_weight * value
        x0 += slope * v0
        x1 += slope * v1
        if loss == _PAIRWISE:
            c -= slope
        if slope != 0.0:
            _add(entity_gradient + at_x, slope * a0, slope * a1, parts, width, block)
        v0, v1 = _load(entities + at_y, parts, width, block)
        slope, value = _term(loss, margin, tl.sum(b0 * v0 + b1 * v1) - beyond)
        slope *= 2.0 - subject_weight
        total += (2.0 - subject_weight) * value
        y0 += slope * v0
        y1 += slope * v1
        if loss == _PAIRWISE:
            c -= slope
        if slope != 0.0:
            _add(entity_gradient + at_y, slope * b0, slope * b1, parts, width, block)
    tl.store(losses + j, total)
    if total != 0.0:  # nothing slopes where every term is 0
        y0 += c * o0
        y1 += c * o1
        g0, g1 = _by_relation(s0, s1, y0, y1, w000, w001, w010, w011, w100, w101, w110, w111)
        h0, h1 = _by_relation(x0, x1, o0, o1, w000, w001, w010, w011, w100, w101, w110, w111)
        _add(relation_gradient + at_r, g0 + h0, g1 + h1, relation_parts, width, block)
        g0, g1 = _by_subject(r0, r1, y0, y1, w000, w001, w010, w011, w100, w101, w110, w111)
        _add(entity_gradient + at_s, g0, g1, parts, width, block)
        x0 += c * s0
        x1 += c * s1
        g0, g1 = _by_object(r0, r1, x0, x1, w000, w001, w010, w011, w100, w101, w110, w111)
        _add(entity_gradient + at_o, g0, g1, parts, width, block)


@triton.jit  # type: ignore[untyped-decorator]
def _term(loss: tl.constexpr, margin, score):  # type: ignore[no-untyped-def]
    """Return slope and value of [γ + φ]₊, or of log(1 + exp φ)."""
    if loss == _LOGISTIC:
        decay = tl.exp(-tl.abs(score))
        slope = tl.where(score > 0, 1.0, decay) / (1.0 + decay)
        value = tl.maximum(score, 0.0) + tl.log(1.0 + decay)
    else:
        gap = margin + score
        slope = tl.where(gap <= 0, 0.0, 1.0)  # which NaN is not: it goes on as NaN
        value = tl.where(gap <= 0, 0.0, gap)
    return slope, value


@triton.jit  # type: ignore[untyped-decorator]
def _load(row, parts: tl.constexpr, width: tl.constexpr, block: tl.constexpr):  # type: ignore[no-untyped-def]
    """Return the parts of a row; the second is 0 where there is one."""
    i = tl.arange(0, block)
    first = tl.load(row + i, mask=i < width, other=0.0)
    second = tl.zeros([block], tl.float32)
    if parts == 2:
        second = tl.load(row + width + i, mask=i < width, other=0.0)
    return first, second


@triton.jit  # type: ignore[untyped-decorator]
def _add(row, first, second, parts: tl.constexpr, width: tl.constexpr, block: tl.constexpr):  # type: ignore[no-untyped-def]
    i = tl.arange(0, block)
    tl.atomic_add(row + i, first, mask=i < width, sem="relaxed")
    if parts == 2:
        tl.atomic_add(row + width + i, second, mask=i < width, sem="relaxed")


@triton.jit  # type: ignore[untyped-decorator]
def _by_subject(  # type: ignore[no-untyped-def]
    r0, r1, y0, y1,
    w000: tl.constexpr, w001: tl.constexpr, w010: tl.constexpr, w011: tl.constexpr,
    w100: tl.constexpr, w101: tl.constexpr, w110: tl.constexpr, w111: tl.constexpr,
):  # fmt: skip
    """∂φ/∂x_σ = Σ w_ρσω r_ρ y_ω."""
    first = w000 * r0 * y0 + w001 * r0 * y1 + w100 * r1 * y0 + w101 * r1 * y1
    second = w010 * r0 * y0 + w011 * r0 * y1 + w110 * r1 * y0 + w111 * r1 * y1
    return first, second


@triton.jit  # type: ignore[untyped-decorator]
def _by_object(  # type: ignore[no-untyped-def]
    r0, r1, x0, x1,
    w000: tl.constexpr, w001: tl.constexpr, w010: tl.constexpr, w011: tl.constexpr,
    w100: tl.constexpr, w101: tl.constexpr, w110: tl.constexpr, w111: tl.constexpr,
):  # fmt: skip
    """∂φ/∂y_ω = Σ w_ρσω r_ρ x_σ."""
    first = w000 * r0 * x0 + w010 * r0 * x1 + w100 * r1 * x0 + w110 * r1 * x1
    second = w001 * r0 * x0 + w011 * r0 * x1 + w101 * r1 * x0 + w111 * r1 * x1
    return first, second


@triton.jit  # type: ignore[untyped-decorator]
def _by_relation(  # type: ignore[no-untyped-def]
    x0, x1, y0, y1,
    w000: tl.constexpr, w001: tl.constexpr, w010: tl.constexpr, w011: tl.constexpr,
    w100: tl.constexpr, w101: tl.constexpr, w110: tl.constexpr, w111: tl.constexpr,
):  # fmt: skip
    """∂φ/∂r_ρ = Σ w_ρσω x_σ y_ω."""
    first = w000 * x0 * y0 + w001 * x0 * y1 + w010 * x1 * y0 + w011 * x1 * y1
    second = w100 * x0 * y0 + w101 * x0 * y1 + w110 * x1 * y0 + w111 * x1 * y1
    return first, second
