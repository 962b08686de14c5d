"""What trainings cost, in operations by a formula: a race is limited by work and never by the clock.

Small graphs are bound by the overhead of a step and by what is done to each number of a vector, large ones by products
with all entities. The constants are of one core of a CPU and of one GPU, which stand for 10¹¹ and 3·10¹³ operations a
second.
"""

from __future__ import annotations

from dataclasses import dataclass

from clausal.config import Settings
from clausal.graph.graph import Graph
from clausal.search.best import Machine, operations

_A_SECOND = {"cpu": 10**11, "gpu": 3 * 10**13}  # for each core
_A_STEP = {"cpu": 10**8, "gpu": 10**10}  # what a step takes whatever its batch
_A_NUMBER = 5_000  # for each number of the vectors of a batch: lookups, products, regulariser, and back again
_A_CORRUPTION = 300  # the same by the kernels for corruptions
_A_SCORE = 400  # for each score of a fact against all entities
_A_PARAMETER = 500  # of the optimiser's step, for each parameter of an entity
_OF_A_CLAUSE = 5_000  # for each number of a clause's adversarial set in a step


@dataclass(frozen=True)
class Size:
    """How large a graph is: entities, relations, and facts of train and valid."""

    entities: int
    relations: int
    facts: int
    valid: int

    @staticmethod
    def of(graph: Graph) -> Size:
        """Count a graph."""
        return Size(len(graph.entities), len(graph.relations), len(graph.train), len(graph.valid))


def minutes_of_work(minutes: float, machine: Machine) -> int:
    """Return about how many operations a machine makes in some minutes."""
    return int(60 * minutes * _A_SECOND["gpu" if machine.gpu else "cpu"] * machine.cores)


def training_work(size: Size, settings: Settings, clauses: int, machine: Machine, epochs: int | None = None) -> int:
    """Return the operations of some epochs of a training, or of all, with the validations among them."""
    train, every = settings.train, settings.evaluate.every
    epochs = train.epochs if epochs is None else epochs
    validations = -(-epochs // every) if every and size.valid else 0
    validation = 2 * size.valid * size.entities * (2 * settings.model.dim + _A_SCORE // 4)
    return epochs * train.passes * pass_work(size, settings, clauses, machine) + validations * validation


def pass_work(size: Size, settings: Settings, clauses: int, machine: Machine) -> int:
    """Return the operations of one pass over the train facts."""
    facts, dim = settings.facts, settings.model.dim
    batch = facts.batch_size or -(-size.facts // facts.batches)
    steps = -(-size.facts // max(1, batch))
    overhead = steps * _A_STEP["gpu" if machine.gpu else "cpu"] * machine.cores
    used = clauses if settings.clauses.weight and settings.clauses.adversary != "none" else 0
    of_clauses = steps * used * dim * _OF_A_CLAUSE
    if facts.training == "corruption":
        return overhead + of_clauses + size.facts * (2 + 2 * facts.negatives) * dim * _A_CORRUPTION
    candidates = size.entities + (2 * size.relations if facts.relation_weight else 0)
    products = operations(candidates, size.facts, dim) + size.facts * candidates * _A_SCORE
    vectors = size.facts * dim * _A_NUMBER + steps * size.entities * dim * _A_PARAMETER
    return overhead + of_clauses + products + vectors
