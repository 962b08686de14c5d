"""Complex components on discs, in at most three variables: only phases are left to choose, and one number finds them.

A form is Re(a x̄₀x₁ + b x̄₁x₂ + c x̄₀x₂) in each component, which is largest with every xᵥ on the edge of its disc, so
that radii become part of a, b and c. Turning all three changes nothing: let x₀ be 1. The best x₁ for a given x₂ makes
Re(c x₂) + |a + conj(b x₂)|. Its two terms are largest at two phases of x₂, and between these their sum rises up to its
maximum and falls thereafter. So the largest value of one form is exact; of several it is the dual over their weights λ.
That there is one maximum between the two is proven in "Discs" of docs/explanation/certificates.md.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn.functional import pad

from clausal.bounds.blocks import AtomBlocks, Bound, LinearForms
from clausal.bounds.regions import Balls, Discs
from clausal.bounds.simplex import bisect_on_simplex
from clausal.fast import fastest

_PAIRS = ((0, 1), (1, 2), (0, 2))
"""The variables that a, b and c stand between. An atom's pair is a place in this list."""
_HALVINGS = 26
"""How often an interval is halved: the phase is found to 2⁻²⁶ of it, and the value, flat there, to rounding."""
_ASIDE = 1e-6
"""How far beside the best λ the forms are looked at, where two of them change places as the largest."""


def has_phases(atoms: AtomBlocks, forms: LinearForms, free: int) -> bool:
    """Say whether forms are of this kind: at most two, of complex numbers, in three variables without constants."""
    if free > 3 or len(forms.offsets) > 2 or atoms.matrices.shape[-1] != 2:
        return False
    if any(max(ends) >= free or ends[0] == ends[1] for ends in zip(atoms.subjects, atoms.objects, strict=True)):
        return False
    (p, q), (minus_q, same_p) = (row.unbind(-1) for row in atoms.matrices.unbind(-2))
    return bool(((p == same_p) & (q == -minus_q)).all())


@torch.no_grad()
def bound_by_phases(atoms: AtomBlocks, forms: LinearForms, region: Balls | Discs, free: int) -> Bound | None:
    """Bound max over discs of min over forms, exactly for one form; None for other regions and forms."""
    if isinstance(region, Balls) or not has_phases(atoms, forms, free):
        return None
    exact, where = atoms.detach(), Discs(region.radius.double(), region.fixed.double())
    weights = solve_weights(exact, forms, where)
    value = largest_by_phases(exact, forms, where, weights)
    phases = _balanced_phases(exact, forms.like(exact.matrices), where, weights)[:, :free]
    components = where.radius.unsqueeze(-1) * torch.view_as_real(phases)
    return Bound(value.to(atoms.matrices), weights.to(atoms.matrices), components.to(atoms.matrices))


@torch.no_grad()
def solve_weights(atoms: AtomBlocks, forms: LinearForms, region: Discs) -> Tensor:
    """Return the λ [clauses, forms] that make the bound smallest."""
    linear = forms.like(atoms.matrices)
    ones = atoms.matrices.new_ones(len(atoms.matrices), len(forms.offsets))
    if len(forms.offsets) == 1:
        return ones
    return bisect_on_simplex(lambda weights: _best_values(atoms, linear, region, weights), ones)


def largest_by_phases(atoms: AtomBlocks, forms: LinearForms, region: Discs, weights: Tensor) -> Tensor:
    """Return the largest value [clauses] of the forms weighed by λ [clauses, forms], differentiable in the atoms."""
    return (weights * _best_values(atoms, forms.like(atoms.matrices), region, weights)).sum(1)


def _best_values(atoms: AtomBlocks, forms: LinearForms, region: Discs, weights: Tensor) -> Tensor:
    """Return every form [clauses, forms] where their weighted sum is largest, which is the slope of that by λ."""
    given = atoms.matrices, weights @ forms.matrix, region.radius, _pair_numbers(atoms), _reversed(atoms)
    scores = fastest(scores_at_best_phases, *given)(*given)
    return scores @ forms.matrix.T + forms.offsets


def scores_at_best_phases(
    matrices: Tensor, weights: Tensor, radius: Tensor, pairs: Sequence[int], is_reversed: Sequence[bool]
) -> Tensor:
    """Return the scores of atoms [clauses, atoms] where their weighted sum is largest, differentiable in the matrices.

    This is the reference of the kernel for GPUs. ``matrices`` [clauses, atoms, components, 2, 2] are complex numbers,
    ``weights`` are [clauses, atoms] and ``radius`` is [clauses, variables, components]. ``pairs`` says which variables
    an atom is of, by their place in ``_PAIRS``; an atom is reversed if the later of the two is its subject.
    """
    numbers = _complex_numbers(matrices, radius, pairs, is_reversed)
    return _atom_scores(numbers, _best_phases(numbers, weights, pairs), pairs).sum(-1)


def _balanced_phases(atoms: AtomBlocks, forms: LinearForms, region: Discs, weights: Tensor) -> Tensor:
    """Return phases [clauses, 3, components] at which the smallest form is large.

    At the best λ two forms are equal, or change places: then the first components are as just after it and the others
    as just before, so that the two forms are as close as one component can make them.
    """
    pairs = _pair_numbers(atoms)
    numbers = _complex_numbers(atoms.matrices, region.radius, pairs, _reversed(atoms))
    aside = _ASIDE * weights.new_tensor([1.0, -1.0] if weights.shape[1] == 2 else [0.0])
    before, after = (
        _best_phases(numbers, (weights + side).clamp(0, 1) @ forms.matrix, pairs) for side in (-aside, aside)
    )
    values, others = (forms.matrix @ _atom_scores(numbers, phases, pairs) for phases in (before, after))
    rise = pad((others - values).cumsum(-1), (1, 0))  # [clauses, forms, 1 + components]
    smallest = (values.sum(-1, keepdim=True) + rise + forms.offsets[:, None]).amin(1)
    first = torch.arange(values.shape[-1], device=values.device) < smallest.argmax(1, keepdim=True)
    return torch.where(first.unsqueeze(1), after, before)


def _pair_numbers(atoms: AtomBlocks) -> tuple[int, ...]:
    """Return the place in ``_PAIRS`` of the two variables of each atom."""
    return tuple(_PAIRS.index((min(ends), max(ends))) for ends in zip(atoms.subjects, atoms.objects, strict=True))


def _reversed(atoms: AtomBlocks) -> tuple[bool, ...]:
    """Tell of each atom whether its subject is the later one of its two variables."""
    return tuple(subject > object for subject, object in zip(atoms.subjects, atoms.objects, strict=True))


def _complex_numbers(matrices: Tensor, radius: Tensor, pairs: Sequence[int], is_reversed: Sequence[bool]) -> Tensor:
    """Return what x̄ᵤxᵥ, u < v, is multiplied by in each atom [clauses, atoms, components].

    xᵀ [[p, q], [−q, p]] y is Re((p − iq) x̄y).
    """
    ends = [_PAIRS[pair] for pair in pairs]
    limits = torch.stack([radius[:, one] * radius[:, other] for one, other in ends], 1)
    imaginary = [matrices[:, atom, :, 1 - turn, 0 + turn] for atom, turn in enumerate(is_reversed)]
    return torch.complex(limits * matrices[..., 0, 0], limits * torch.stack(imaginary, 1))


def _atom_scores(numbers: Tensor, phases: Tensor, pairs: Sequence[int]) -> Tensor:
    """Return what each component adds to the score of each atom [clauses, atoms, components]."""
    ends = [_PAIRS[pair] for pair in pairs]
    units = torch.stack([phases[:, one].conj() * phases[:, other] for one, other in ends], 1)
    return (numbers * units).real


@torch.no_grad()
def _best_phases(numbers: Tensor, weights: Tensor, pairs: Sequence[int]) -> Tensor:
    """Return the variables of modulus 1 [clauses, 3, components] at which the weighted sum of scores is largest."""
    sums: dict[int, Tensor] = {}
    for pair, number in zip(pairs, (weights.unsqueeze(-1) * numbers).unbind(1), strict=True):
        sums[pair] = sums[pair] + number if pair in sums else number
    one = torch.ones_like(numbers[:, 0])
    if len(sums) == len(_PAIRS):
        a, b, c = (sums[pair] for pair in range(len(_PAIRS)))
        last = _best_phase(a, b, c)
        return torch.stack([one, _unit(a + (b * last).conj()).conj(), last], 1)
    # Without a circle every pair has the phase that is best for it.
    units = [_unit(sums[pair]).conj() if pair in sums else one for pair in range(len(_PAIRS))]
    if 2 not in sums:
        return torch.stack([one, units[0], units[0] * units[1]], 1)
    return torch.stack([one, units[0] if 0 in sums else units[2] * units[1].conj(), units[2]], 1)


def _best_phase(a: Tensor, b: Tensor, c: Tensor) -> Tensor:
    """Return the x₂ of modulus 1 at which Re(c x₂) + |a + conj(b x₂)| is largest, by halving the way between phases.

    ``start`` is the phase that is best for the first term and ``way`` leads from it to that best for the second. The
    angle gone so far grows by a half, a quarter, … of the way wherever the sum still rises there. Angles are kept as
    numbers of modulus 1, so that no angle is computed.
    """
    start = _unit(c).conj()
    way = _unit(a) * _unit(b) * start  # from the best phase of the first term to that of the second, backwards
    forwards = way.imag < 0
    way = torch.where(forwards, way.conj(), way)
    half = torch.complex(((1 + way.real) / 2).clamp_min(0).sqrt(), ((1 - way.real) / 2).clamp_min(0).sqrt())
    product, squares, size = (a * b).abs(), a.abs() ** 2 + b.abs() ** 2, c.abs()
    gone = torch.ones_like(way)
    for _ in range(_HALVINGS):
        trial = gone * half
        left = way * trial.conj()
        root = (squares + 2 * product * left.real).clamp_min(0).sqrt()
        rising = product * left.imag > size * trial.imag * root
        gone = torch.where(rising, trial, gone)
        cosine = ((1 + half.real) / 2).sqrt()
        half = torch.complex(cosine, half.imag / (2 * cosine))
    gone = gone.sgn()
    return start * torch.where(forwards, gone, gone.conj())


def _unit(number: Tensor) -> Tensor:
    """Return a number's direction, and 1 for 0."""
    direction = number.sgn()
    return torch.where(direction == 0, torch.ones_like(direction), direction)
