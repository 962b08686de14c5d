"""What a search varies: a range or some values of each setting, laid around the settings that it starts from."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from clausal.config import Settings

if TYPE_CHECKING:
    import optuna


@dataclass(frozen=True)
class Range:
    """Every number from ``low`` to ``high``, on a logarithmic scale."""

    name: str
    low: float
    high: float

    def holds(self, value: Any) -> bool:
        """Say whether a value is one of these."""
        return bool(self.low <= value <= self.high)

    def distribution(self) -> optuna.distributions.BaseDistribution:
        """Return what optuna knows of it."""
        from optuna.distributions import FloatDistribution

        return FloatDistribution(self.low, self.high, log=True)

    def suggest(self, trial: optuna.Trial) -> float:
        """Let the sampler choose; three digits are as many as a validation can tell apart."""
        return float(f"{trial.suggest_float(self.name, self.low, self.high, log=True):.3g}")


@dataclass(frozen=True)
class Choice:
    """One of some values."""

    name: str
    values: tuple[Any, ...]

    def holds(self, value: Any) -> bool:
        """Say whether a value is one of these."""
        return value in self.values

    def distribution(self) -> optuna.distributions.BaseDistribution:
        """Return what optuna knows of it."""
        from optuna.distributions import CategoricalDistribution

        return CategoricalDistribution(self.values)

    def suggest(self, trial: optuna.Trial) -> Any:
        """Let the sampler choose."""
        return trial.suggest_categorical(self.name, self.values)


Space = Sequence[Range | Choice]

# How far from its start each setting may go.
FACTORS = {
    "train.learning_rate": (1 / 10, 5),
    "facts.regulariser_weight": (1 / 20, 10),
    "clauses.weight": (1 / 100, 100),
}
MULTIPLES = {
    "model.dim": (0.5, 1, 2),
    "facts.batch_size": (0.25, 0.5, 1, 2),
}
VALUES = {
    "facts.margin": (1.0, 2.0, 5.0, 10.0),
    "model.domain": ("cube", "sphere"),
    "clauses.adversary": ("closed-form", "gradient"),
}


def make_space(
    start: Settings, *, clauses: bool, fixed: Collection[str] = (), largest_dim: int | None = None
) -> list[Range | Choice]:
    """Return the space around ``start``: settings that have no effect there, and those that are ``fixed``, left out.

    ``largest_dim`` is what the machine has memory for.
    """
    space: list[Range | Choice] = []
    for name in (*FACTORS, *MULTIPLES, *VALUES):
        value = setting(start, name)
        if name in fixed or not matters(name, start, clauses):
            continue
        if name in FACTORS:
            low, high = FACTORS[name]
            space.append(Range(name, value * low, value * high))
        elif name in MULTIPLES:
            sizes = {2 * max(1, round(value * factor / 2)) for factor in MULTIPLES[name]} | {value}
            most = max(largest_dim or value, value) if name == "model.dim" else max(sizes)
            space.append(Choice(name, tuple(sorted(size for size in sizes if size <= most))))
        else:
            space.append(Choice(name, tuple(dict.fromkeys((value, *VALUES[name])))))
    return space


def setting(settings: Settings, name: str) -> Any:
    """Return the value of ``section.key``."""
    section, _, key = name.partition(".")
    return getattr(getattr(settings, section), key)


def change(settings: Settings, changes: Mapping[str, Any]) -> Settings:
    """Return settings with some changed, checked together."""
    values = settings.model_dump()
    for name, value in changes.items():
        section, _, key = name.partition(".")
        values[section][key] = value
    return Settings.from_mapping(values, "search")


def matters(name: str, start: Settings, clauses: bool) -> bool:
    """Say whether a setting changes anything in a training that starts from these."""
    if not setting(start, name):  # a weight of 0, or no batch size
        return False
    if name.startswith("clauses.") and not (clauses and start.clauses.adversary != "none" and start.clauses.weight):
        return False
    if name == "clauses.adversary":  # without a domain there are bounds for every clause, and no search of them
        return start.model.domain != "none" and start.clauses.adversary in VALUES[name]
    if name == "facts.margin":
        return start.facts.loss in ("hinge", "pairwise")
    if name == "facts.regulariser_weight":
        return start.facts.regulariser != "none"
    return name != "model.domain" or start.model.domain in VALUES["model.domain"]
