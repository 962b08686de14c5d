"""The published formula of each scorer, for one fact, in plain Python and complex numbers."""

from __future__ import annotations

import cmath
import math

import numpy as np


def _complex(vector):
    half = len(vector) // 2
    return [complex(re, im) for re, im in zip(vector[:half], vector[half:], strict=True)]


def distmult(r, s, o):
    return sum(a * b * c for a, b, c in zip(r, s, o, strict=True))


def complex_(r, s, o):
    return sum((a * b * c.conjugate()).real for a, b, c in zip(_complex(r), _complex(s), _complex(o), strict=True))


def transe(r, s, o, norm="l1"):
    gaps = [b + a - c for a, b, c in zip(r, s, o, strict=True)]
    if norm == "l1":
        return -sum(abs(gap) for gap in gaps)
    squared = sum(gap * gap for gap in gaps)
    return -squared if norm == "l2-squared" else -math.sqrt(squared)


def rescal(r, s, o):
    return float(np.array(s) @ np.array(r).reshape(len(s), len(s)) @ np.array(o))


def simple(r, s, o):
    half = len(s) // 2
    forward = sum(s[i] * r[i] * o[half + i] for i in range(half))
    backward = sum(o[i] * r[half + i] * s[half + i] for i in range(half))
    return (forward + backward) / 2


def cp(r, s, o):
    return sum(s[i] * r[i] * o[len(s) // 2 + i] for i in range(len(s) // 2))


def rotate(r, s, o):
    return -sum(abs(a * cmath.exp(1j * angle) - b) for angle, a, b in zip(r, _complex(s), _complex(o), strict=True))


def hole(r, s, o):
    size = len(s)
    return sum(r[k] * s[i] * o[(i + k) % size] for k in range(size) for i in range(size))


def model_f(r, pair, ones):
    return sum(a * b * c for a, b, c in zip(r, pair, ones, strict=True))


def er_mlp(scorer, r, s, o):
    """The layers of ``scorer`` applied to the concatenation of relation, subject and object."""
    first = np.concatenate(
        [p.detach().numpy() for p in (scorer.relation_layer, scorer.subject_layer, scorer.object_layer)], axis=1
    )
    state = first @ np.concatenate([r, s, o]) + scorer.bias.detach().numpy()
    for layer in scorer.layers:
        state = layer.weight.detach().numpy() @ np.tanh(state) + layer.bias.detach().numpy()
    return float(state[0])


FORMULAS = {
    "distmult": distmult,
    "complex": complex_,
    "transe": transe,
    "rescal": rescal,
    "simple": simple,
    "cp": cp,
    "rotate": rotate,
    "hole": hole,
    "model-f": model_f,
}
