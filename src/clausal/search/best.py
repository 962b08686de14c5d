"""The preset ``best``: settings computed from the size of a graph and from what the machine offers, without a search.

``docs/how-to/search.md`` states the rule.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from clausal.config import Settings
from clausal.graph.graph import Graph
from clausal.logic.syntax import Clause
from clausal.model.build import find_device
from clausal.presets import BEST

DIMS = (64, 128, 256, 512, 1024, 2048, 4096)
_LARGEST = {"cpu": 512, "gpu": 4096}
_OPERATIONS = {"cpu": 15 * 10**11, "gpu": 3 * 10**14}  # in a pass, for each core of a CPU: ten to fifteen seconds
_WIDE = 2048, 1 / 3  # above this dimension little is gained, so a pass has to be shorter
_CORRUPTION_DIM = 256
_BYTES = 4 * 5  # a parameter, its gradient, AdaGrad's accumulator, the average and the best model so far
_REGULARISER = 0.1, 0.005  # the most and the least weight of N3
_REGULARISED_FACTS = 0.3  # of an entity: the weight for entities of one fact, before these limits
_SMOOTHING = 0.1, 8  # of labels, where an entity has so many facts: with few it costs, with many it ends better
_STEPS = 200  # in a pass at least, within the limits of a batch: AdaGrad needs some ten thousand in all
_ENTITIES = 48  # for each step of a pass, at most: the fewer facts an entity has, the smaller the batches
_MANY_FACTS = 50_000  # with them the large models of a GPU take fewer passes
_PASSES = 40, 60  # of these models, at least and at most
_ALL_STEPS = 32_000  # in their passes together, within these limits
_TOLERANCE = 0.001  # of MRR: an early epoch that is no better than this is luck
_WEIGHT = 5e-3  # of clauses, for each fact of a batch
_CONTAINER = Path("/sys/fs/cgroup/memory.max")  # the limit of a container, on Linux


@dataclass(frozen=True)
class Machine:
    """A GPU, or else the cores of a CPU, and the bytes of memory that go with it."""

    gpu: bool
    cores: int
    memory: int


def best_settings(graph: Graph, clauses: Sequence[Clause] = (), device: str = "auto") -> Settings:
    """Return the settings of the preset ``best`` for a graph on this machine."""
    return Settings.from_mapping(best_values(graph, clauses, device), f"preset {BEST}")


def best_values(graph: Graph, clauses: Sequence[Clause] = (), device: str = "auto") -> dict[str, Any]:
    """Return the same as values by section, to be changed by a user's own."""
    return values_for(len(graph.entities), len(graph.train), bool(clauses), this_machine(device))


def possible_values(clauses: bool) -> list[dict[str, Any]]:
    """Return the values for a small graph and for a huge one: what fits neither can be refused without a graph."""
    machine = Machine(gpu=False, cores=1, memory=2**40)
    return [values_for(size, size, clauses, machine) for size in (1, 10**9)]


def values_for(entities: int, facts: int, clauses: bool, machine: Machine) -> dict[str, Any]:
    """Return the values for a graph of this size on a machine.

    Training against all entities makes the better model; where a pass of it is too long, corruptions are used.
    """
    kind = "gpu" if machine.gpu else "cpu"
    within = [
        dim
        for dim in DIMS
        if operations(entities, facts, dim) <= _OPERATIONS[kind] * machine.cores * (_WIDE[1] if dim > _WIDE[0] else 1)
        and dim <= min(_LARGEST[kind], _dim_in_memory(entities, machine))
    ]
    if within:
        values = _against_all_entities(entities, facts, max(within), machine)
    else:
        values = against_corruptions(min(_CORRUPTION_DIM, _dim_in_memory(entities, machine)))
    values["clauses"] = {"adversary": "closed-form" if clauses else "none"}
    values["clauses"]["weight"] = clause_weight(Settings.from_mapping(values))
    return values


def clause_weight(settings: Settings) -> float:
    """Return a weight for clauses that hold.

    Against all entities vectors are free, and violations are bounded over discs, which are larger than the cube.
    """
    free = settings.facts.training != "corruption" and settings.facts.batch_size is not None
    return _WEIGHT * (settings.facts.batch_size or 1) if free else 1.0


def operations(entities: int, facts: int, dim: int) -> int:
    """Return the operations of a pass against all entities: two queries of a fact, each in three matrix products."""
    return 2 * 3 * 2 * facts * entities * dim


def _against_all_entities(entities: int, facts: int, dim: int, machine: Machine) -> dict[str, Any]:
    batch = _batch(entities, facts)
    return {
        "model": {"scorer": "complex", "dim": dim, "domain": "none", "reciprocal": True, "initial_scale": 0.1},
        "facts": {
            "training": "1-vs-all",
            "loss": "softmax",
            "regulariser": "n3",
            "regulariser_weight": regulariser_weight(entities, facts),
            "label_smoothing": label_smoothing(entities, facts),
            "batch_size": batch,
        },
        "train": {
            "epochs": _passes(facts, batch) if machine.gpu and facts >= _MANY_FACTS else 100,
            "passes": 1,
            "learning_rate": 0.1,
            "initial_accumulator": 0.0,
            "averaging": 0.8,
        },
        "evaluate": {"every": 5, "patience": 4, "metric": "mrr, inconsistency", "tolerance": _TOLERANCE},
    }


def _batch(entities: int, facts: int) -> int:
    """Return a power of two that makes enough steps of a pass, for the facts and for the entities."""
    size = facts / max(_STEPS, entities / _ENTITIES)
    return min(512, max(64, 2 ** round(math.log2(max(1, size)))))


def _passes(facts: int, batch: int) -> int:
    """Return passes that make enough steps in all, by fives, as often as they are validated."""
    fewest, most = _PASSES
    return min(most, max(fewest, 5 * round(_ALL_STEPS * batch / facts / 5)))


def regulariser_weight(entities: int, facts: int) -> float:
    """Return a weight of N3: the fewer facts an entity has, the more its vector has to be held back."""
    most, least = _REGULARISER
    weight = _REGULARISED_FACTS * max(1, entities) / max(1, facts)
    return min(most, max(least, float(f"{weight:.1g}")))


def label_smoothing(entities: int, facts: int) -> float:
    """Return how much of the truth is spread over all entities: some where entities have many facts, and else none."""
    share, many = _SMOOTHING
    return share if facts >= many * entities else 0.0


def against_corruptions(dim: int) -> dict[str, Any]:
    """Return the settings of the paper's training, with a larger margin."""
    return {
        "model": {"scorer": "complex", "dim": dim, "domain": "cube"},
        "facts": {"training": "corruption", "loss": "hinge", "margin": 5.0},
        "train": {"epochs": 50, "passes": 10, "learning_rate": 0.1},
        "evaluate": {"every": 5, "patience": 4, "metric": "mrr, inconsistency", "tolerance": _TOLERANCE},
    }


def largest_dim(graph: Graph, settings: Settings) -> int:
    """Return the largest dimension of entities that half of the machine's memory holds a training of."""
    return _dim_in_memory(len(graph.entities), this_machine(settings.train.device))


def _dim_in_memory(entities: int, machine: Machine) -> int:
    return max((dim for dim in DIMS if entities * dim * _BYTES <= machine.memory // 2), default=DIMS[0])


def this_machine(device: str = "auto") -> Machine:
    """Look at the device that a training with ``train.device`` would use."""
    found = find_device(device)
    if found.type == "cuda":
        return Machine(True, 1, torch.cuda.get_device_properties(found).total_memory)
    return Machine(False, torch.get_num_threads(), _main_memory())


def _main_memory() -> int:
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    try:
        return min(memory, int(_CONTAINER.read_text(encoding="ascii")))
    except (OSError, ValueError):  # no container, or one without a limit
        return memory
