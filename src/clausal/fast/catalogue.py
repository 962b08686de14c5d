"""All fast forms: what each stands for, and when it applies.

Of several forms of one reference, the first that applies is taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from clausal.fast.kernels import LOSS_NUMBERS, find_kernels
from clausal.fast.registry import FastForm, current_choice
from clausal.model.described import DescribedEncoder
from clausal.model.encoders import FrozenTable, Table
from clausal.model.row_table import RowTable
from clausal.model.scorers.base import MultilinearScorer

if TYPE_CHECKING:
    from clausal.adversary.adversary import Adversary, Vectors
    from clausal.adversary.ascent import GradientAscent
    from clausal.adversary.clauses import ClauseGroup
    from clausal.adversary.hard.structure import Structure
    from clausal.evaluation.entities.middles import SortedMiddles
    from clausal.model.domains import Domain
    from clausal.model.predictor import LinkPredictor
    from clausal.training.against_all.losses import AllEntitiesLoss
    from clausal.training.against_all.queries import Answers
    from clausal.training.objective import Objective
    from clausal.training.step import Step

MANY_SCORES = 1 << 30
"""Looking at fewer scores takes less time than loading a CPU kernel, unless training has loaded kernels already."""
_PRUNED = 64
"""One middle of a chain in so many is tried on an average, or fewer."""
_WORK_OF_PHASES = 1 << 8
"""How many scores are looked at in the time that the reference takes for one number of a clause."""
_WORK_OF_A_SEARCH = 1 << 7
"""How many scores are looked at in the time that the reference searches among one number of a table of corners."""
_LARGEST_TILE = 1 << 14
"""How many numbers a program on a GPU holds."""
_ELSEWHERE = "is for another device"


def _kernels_on_cpu(predictor: LinkPredictor) -> str | None:
    if predictor.device.type != "cpu":
        return _ELSEWHERE
    if find_spec("numba") is None:
        return "needs numba: pip install numba"
    if predictor.scorer.terms is None:
        return f"{type(predictor.scorer).__name__} is not a sum of trilinear terms"
    return None if predictor.relations.dtype == torch.float32 else "is for single precision"


def _ascent_on_cpu(
    ascent: GradientAscent, predictor: LinkPredictor, groups: Sequence[ClauseGroup], start: Sequence[Vectors]
) -> str | None:
    return _kernels_on_cpu(predictor)


def _ascent_on_gpu(
    ascent: GradientAscent, predictor: LinkPredictor, groups: Sequence[ClauseGroup], start: Sequence[Vectors]
) -> str | None:
    return None if predictor.device.type == "cuda" else _ELSEWHERE


def _clauses_on_cpu(adversary: Adversary, predictor: LinkPredictor, groups: Sequence[ClauseGroup]) -> str | None:
    return _kernels_on_cpu(predictor) if groups else "there are no clauses"


def _closed_forms_on_gpu(adversary: Adversary, predictor: LinkPredictor, groups: Sequence[ClauseGroup]) -> str | None:
    from clausal.fast.features import is_at_corners, pair_form

    if predictor.device.type != "cuda" or predictor.relations.dtype != torch.float32:
        return _ELSEWHERE
    if find_spec("triton") is None:
        return "needs triton, which comes with torch on Linux"
    known = (is_at_corners(adversary, predictor, one) or pair_form(adversary, predictor, one) for one in groups)
    return None if any(known) else "knows none of these closed forms"


def _features(adversary: Adversary, predictor: LinkPredictor, groups: Sequence[ClauseGroup]) -> str | None:
    return None if groups else "there are no clauses"


def _fused_step(objective: Objective, optimizer: torch.optim.Optimizer) -> str | None:
    predictor, facts = objective.predictor, objective.settings.facts
    if (reason := _by_rows(objective, optimizer)) is not None:
        return reason
    if not isinstance(predictor.encoder, Table) or isinstance(predictor.encoder, FrozenTable):
        return "the fused one needs a trainable table of entity vectors"
    if not isinstance(optimizer, torch.optim.Adagrad):
        return f"the fused one takes AdaGrad's steps, and train.optimizer is {objective.settings.train.optimizer}"
    if facts.l2_entities:
        return "the fused one touches the entities of a batch alone, and facts.l2_entities moves all of them"
    if objective.groups and objective.clauses.adversary.moves_entities:
        return "the fused one moves the entities of a batch alone, and grounded clauses move others too"
    if predictor.domain.projection is None:
        return f"the fused one cannot project onto {predictor.domain!r}"
    return None


def _by_rows(objective: Objective, optimizer: torch.optim.Optimizer) -> str | None:
    """Say why kernels have no gradient of the facts of a batch, which is all that the step by rows asks of them."""
    predictor, facts = objective.predictor, objective.settings.facts
    if facts.training != "corruption":
        return "the fused one is for corruptions, and training against all entities is matrix products"
    if predictor.rows_per_relation > 1:
        return "the fused one reads a relation in one direction, and reciprocal relations have two vectors"
    if facts.regulariser != "none":
        return "the fused one has no regulariser of a batch's vectors"
    if predictor.scorer.terms is None:
        return f"{type(predictor.scorer).__name__} is not a sum of trilinear terms"
    if facts.loss not in LOSS_NUMBERS:
        return f"the fused one has no loss {facts.loss}"
    found = find_kernels(predictor.device)
    return found if isinstance(found, str) else None


def _in_place(objective: Objective, optimizer: torch.optim.Optimizer) -> str | None:
    """Say why kernels cannot step on the rows where they lie."""
    table = objective.predictor.encoder
    assert isinstance(table, RowTable)
    if table.weight.device.type != "cpu":
        return _ELSEWHERE
    if table.peers.size == 1:
        return "is for several processes"
    if table.weight.dtype != torch.float32:
        return "is for single precision"
    if objective.predictor.domain.projection is None:
        return f"the fused one cannot project onto {objective.predictor.domain!r}"
    return _by_rows(objective, optimizer)


def _rows_on_cpu(
    table: RowTable, rows: Tensor, gradient: Tensor, rate: float, domain: Domain, *_: object
) -> str | None:
    if table.weight.device.type != "cpu":
        return _ELSEWHERE
    if find_spec("numba") is None:
        return "needs numba: pip install numba"
    if table.weight.dtype != torch.float32:
        return "is for single precision"
    return None if domain.projection is not None else "cannot project onto this domain"


def _rows_on_gpu(
    table: RowTable, rows: Tensor, gradient: Tensor, rate: float, domain: Domain, *_: object
) -> str | None:
    if table.weight.device.type != "cuda":
        return _ELSEWHERE
    if find_spec("triton") is None:
        return "needs triton, which comes with torch on Linux"
    return None if domain.projection is not None else "cannot project onto this domain"


def _step_against_all(objective: Objective, optimizer: torch.optim.Optimizer) -> str | None:
    encoder = objective.predictor.encoder
    if objective.settings.facts.training == "corruption":
        return "is for training against all entities"
    if not isinstance(objective.predictor.scorer, MultilinearScorer):
        return "the scores against all entities are no matrix product"
    if not isinstance(encoder, Table) or isinstance(encoder, FrozenTable):
        return "needs a trainable table of entity vectors"
    if getattr(objective.loss, "candidates", None) is not None:
        return "candidates are drawn for each step (facts.candidates)"
    return None


def _products_in_pieces(
    queries: Tensor, candidates: Tensor, answers: Answers, loss: AllEntitiesLoss, precision: str
) -> str | None:
    known = type(loss).__name__ in ("Softmax", "BinaryCrossEntropy") and type(loss).__module__.startswith("clausal.")
    return None if known else f"the gradient of {type(loss).__name__} is not known"


def _recorded_pass(step: Step) -> str | None:
    settings, device = step.objective.settings, step.objective.facts.device
    if device.type != "cuda":
        return _ELSEWHERE
    if isinstance(step.objective.predictor.encoder, RowTable):
        return "each batch fetches other rows"
    if isinstance(step.objective.predictor.encoder, DescribedEncoder):
        return "each batch encodes other entities"
    if step.objective.clauses.sampled:
        return "each epoch draws clauses anew, and a graph reads those of the first"
    if step.objective.groups and not step.objective.clause_loss.in_place:
        return "a graph reads an adversarial set where it lay at first"
    if step.name == "eager" and settings.facts.training == "corruption":
        return "the eager step takes what a graph cannot hold"
    if settings.facts.filtered or settings.facts.training == "k-vs-all" or settings.train.optimizer == "adam":
        return "a pass waits for the GPU's answer"
    return None


def _adagrad_on_gpu(parameters: Sequence[Tensor]) -> str | None:
    if not any(parameter.device.type == "cuda" for parameter in parameters):
        return _ELSEWHERE
    return None if find_spec("triton") else "needs triton, which comes with torch on Linux"


def _worth_loading(sample: Tensor, scores: int) -> str | None:
    """Say why a CPU kernel does not pay off that looks at so many scores like a sample of them."""
    if sample.device.type != "cpu" or sample.dtype not in (torch.float32, torch.float64):
        return _ELSEWHERE
    if find_spec("numba") is None:
        return "needs numba: pip install numba"
    if scores < MANY_SCORES and not current_choice().kernels_loaded:
        return "loading the kernel would take longer"
    return None


def _worth_multiplying(middles: SortedMiddles, columns: Tensor, floor: Tensor) -> str | None:
    reason = _worth_loading(columns, len(floor) ** 3 // _PRUNED)
    if reason is None and any(numbers.isnan().any() for numbers in (middles.values, columns, floor)):
        return "NaN has no order"
    return reason


def _middles_on_gpu(middles: SortedMiddles, columns: Tensor, floor: Tensor) -> str | None:
    if not columns.is_cuda:
        return _ELSEWHERE
    if find_spec("triton") is None:
        return "needs triton, which comes with torch on Linux"
    if any(numbers.isnan().any() for numbers in (middles.values, columns, floor)):
        return "NaN has no order"
    return None


def _widest_on_cpu(steps: Tensor, raise_by_product: object, carried: Tensor | None = None) -> str | None:
    return _worth_loading(steps, steps.numel() * len(steps))


def _two_forms_on_cpu(table: Tensor, offsets: Tensor) -> str | None:
    if table.shape[1] != 2 or table.dtype != torch.float64:
        return "is for two forms in double precision"
    return _worth_loading(table, table.numel() * _WORK_OF_A_SEARCH)


def _two_forms_on_gpu(table: Tensor, offsets: Tensor) -> str | None:
    if not table.is_cuda or table.shape[1] != 2 or table.dtype != torch.float64:
        return "is for two forms in double precision on a GPU"
    if table.shape[2] * table.shape[3] > _LARGEST_TILE:
        return "a program does not hold so many corners"
    return None if find_spec("triton") else "needs triton, which comes with torch on Linux"


def _phases_on_gpu(matrices: Tensor, *others: object) -> str | None:
    if not matrices.is_cuda or matrices.dtype != torch.float32:
        return _ELSEWHERE
    return None if find_spec("triton") else "needs triton, which comes with torch on Linux"


def _phases_on_cpu(matrices: Tensor, *others: object) -> str | None:
    return _worth_loading(matrices, matrices.numel() * _WORK_OF_PHASES)


def _aligned_products(queries: Tensor, candidates: Tensor) -> str | None:
    if queries.device.type != "cpu":
        return _ELSEWHERE
    return "has no gradient" if torch.is_grad_enabled() else None


def _orders_on_cpu(structure: Structure, device: torch.device) -> str | None:
    if device.type != "cpu":
        return _ELSEWHERE
    return None if find_spec("numba") else "needs numba: pip install numba"


FORMS = (
    FastForm(
        "ascent by CPU kernels",
        "clausal.adversary.ascent:ascend",
        "clausal.fast.clauses:ascend_by_kernels",
        _ascent_on_cpu,
        loads_kernels=True,
    ),
    FastForm(
        "ascent as a CUDA graph",
        "clausal.adversary.ascent:ascend",
        "clausal.fast.recording:recorded_ascent",
        _ascent_on_gpu,
    ),
    FastForm(
        "clause loss by CPU kernels",
        "clausal.training.clauses:ClauseLoss",
        "clausal.fast.clauses:KernelLoss",
        _clauses_on_cpu,
        loads_kernels=True,
    ),
    FastForm(
        "clause loss by a GPU kernel",
        "clausal.training.clauses:ClauseLoss",
        "clausal.fast.cuda.closed_forms:ClosedFormLoss",
        _closed_forms_on_gpu,
    ),
    FastForm(
        "clause loss by features",
        "clausal.training.clauses:ClauseLoss",
        "clausal.fast.features:FeatureLoss",
        _features,
    ),
    FastForm(
        "step by kernels",
        "clausal.training.step:Step",
        "clausal.fast.step:FusedStep",
        _fused_step,
        loads_kernels=True,
    ),
    FastForm(
        "step by rows in place",
        "clausal.training.rows:RowStep",
        "clausal.fast.shared:SharedStep",
        _in_place,
        loads_kernels=True,
    ),
    FastForm(
        "step by rows with kernels",
        "clausal.training.rows:RowStep",
        "clausal.fast.rows:FusedRowStep",
        _by_rows,
        loads_kernels=True,
    ),
    FastForm(
        "AdaGrad on rows by a CPU kernel",
        "clausal.training.rows:descend_on_rows_",
        "clausal.fast.cpu.rows:descend_on_rows_compiled_",
        _rows_on_cpu,
        loads_kernels=True,
    ),
    FastForm(
        "AdaGrad on rows by a GPU kernel",
        "clausal.training.rows:descend_on_rows_",
        "clausal.fast.cuda.rows:descend_on_rows_by_kernel_",
        _rows_on_gpu,
    ),
    FastForm(
        "step without tables of zeros",
        "clausal.training.step:Step",
        "clausal.fast.against_all:AgainstAllStep",
        _step_against_all,
    ),
    FastForm(
        "products with all entities in pieces",
        "clausal.training.against_all.losses:loss_of_products",
        "clausal.fast.against_all:loss_of_products_in_pieces",
        _products_in_pieces,
    ),
    FastForm(
        "passes as a CUDA graph", "clausal.training.step:Pass", "clausal.fast.recording:RecordedPass", _recorded_pass
    ),
    FastForm(
        "projection onto orders by a CPU kernel",
        "clausal.adversary.hard.projection:Projection",
        "clausal.fast.cpu.orders:CompiledProjection",
        _orders_on_cpu,
        loads_kernels=True,
    ),
    FastForm(
        "AdaGrad by a GPU kernel", "torch.optim.adagrad:Adagrad", "clausal.fast.adagrad:FusedAdagrad", _adagrad_on_gpu
    ),
    FastForm(
        "ranks by a CPU kernel",
        "clausal.evaluation.counting:Counting",
        "clausal.fast.cpu.counting:CompiledCounting",
        _worth_loading,
        loads_kernels=True,
    ),
    FastForm(
        "chains by CPU kernels",
        "clausal.evaluation.entities.middles:max_min_product",
        "clausal.fast.cpu.middles:max_min_product_compiled",
        _worth_multiplying,
        loads_kernels=True,
    ),
    FastForm(
        "chains by a GPU kernel",
        "clausal.evaluation.entities.middles:max_min_product",
        "clausal.fast.cuda.middles:max_min_product_by_kernel",
        _middles_on_gpu,
    ),
    FastForm(
        "widest paths by a CPU kernel",
        "clausal.evaluation.consistency.widest:widen_",
        "clausal.fast.cpu.widest:widen_compiled_",
        _widest_on_cpu,
        loads_kernels=True,
    ),
    FastForm(
        "weights of two forms by a CPU kernel",
        "clausal.bounds.boxes.mixtures:optimal_weights",
        "clausal.fast.cpu.mixtures:optimal_weights",
        _two_forms_on_cpu,
        loads_kernels=True,
    ),
    FastForm(
        "weights of two forms by a GPU kernel",
        "clausal.bounds.boxes.mixtures:optimal_weights",
        "clausal.fast.cuda.closed_forms:optimal_weights",
        _two_forms_on_gpu,
    ),
    FastForm(
        "phases by a GPU kernel",
        "clausal.bounds.balls.phases:scores_at_best_phases",
        "clausal.fast.cuda.phases:scores_at_best_phases",
        _phases_on_gpu,
    ),
    FastForm(
        "phases by a CPU kernel",
        "clausal.bounds.balls.phases:scores_at_best_phases",
        "clausal.fast.cpu.phases:scores_at_best_phases",
        _phases_on_cpu,
        loads_kernels=True,
    ),
    FastForm(
        "products in whole cache lines",
        "clausal.model.tensors:inner_products",
        "clausal.fast.products:aligned_inner_products",
        _aligned_products,
    ),
)
