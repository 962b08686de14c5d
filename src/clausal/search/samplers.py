"""What is tried next: every point of a grid, or where earlier trials make a good result likely (optuna)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal, Protocol

from clausal.config import Settings
from clausal.errors import InputError
from clausal.search.journal import Point, Trial
from clausal.search.space import Choice, Range, Space, setting

if TYPE_CHECKING:
    import optuna

SamplerName = Literal["tpe", "grid"]

_RANDOM_TRIALS = 5  # after the start, before the sampler takes over
_ENOUGH = 20  # trials to tell from which settings matter


def _never(epoch: int, value: float) -> bool:
    return False


@dataclass(frozen=True)
class Proposal:
    """The settings of the next trial, and what says, given an epoch and a validation, whether to give it up.

    ``drawn`` has the values before rounding, where they differ.
    """

    changes: Point
    drawn: Point = field(default_factory=dict)
    hopeless: Callable[[int, float], bool] = _never


class Sampler(Protocol):
    """Chooses the next trial from those that ended."""

    def ask(self, ended: Sequence[Trial]) -> Proposal | None:
        """Return the next trial, or None where there is nothing left to try."""
        ...


def make_sampler(name: SamplerName, space: Space, start: Settings) -> Sampler:
    """Make the sampler of a search that begins with the settings ``start``."""
    return Grid(space) if name == "grid" else ParzenEstimator(space, start)


class Grid:
    """Every combination of the values of some choices, each once and trained to its end."""

    def __init__(self, space: Space) -> None:
        self.points = grid_points(space)

    def ask(self, ended: Sequence[Trial]) -> Proposal | None:
        done = [trial.changes for trial in ended]
        return next((Proposal(point) for point in self.points if point not in done), None)


def grid_points(space: Space) -> list[Point]:
    """Return every combination of the values."""
    for parameter in space:
        if isinstance(parameter, Range):
            raise InputError(f"{parameter.name}: a grid needs values to choose from, not a range; give a Choice")
    values = [parameter.values for parameter in space if isinstance(parameter, Choice)]
    return [dict(zip((parameter.name for parameter in space), chosen, strict=True)) for chosen in product(*values)]


class ParzenEstimator:
    """The start, then some trials at random, then a tree-structured Parzen estimator; medians say what is hopeless.

    Random numbers depend on the seed and on how many trials have ended, so that a search that was resumed asks for
    the same trials as one that was not.
    """

    def __init__(self, space: Space, start: Settings) -> None:
        self.space = space
        self.seed = start.train.seed
        self.warmup = start.train.epochs // 4
        values = {one.name: setting(start, one.name) for one in space}
        self.start = {one.name: values[one.name] for one in space if one.holds(values[one.name])}

    def ask(self, ended: Sequence[Trial]) -> Proposal:
        study = _study(self.space, ended)
        study.sampler = self.sampler(seed=1000 * self.seed + len(ended))
        study.pruner = self.pruner()
        if not ended:
            study.enqueue_trial(self.start)
        return self.proposal(study.ask())

    def sampler(self, **options: Any) -> optuna.samplers.BaseSampler:
        """Return what draws a trial."""
        samplers = import_optuna().samplers
        drawing: optuna.samplers.BaseSampler = samplers.TPESampler(
            n_startup_trials=1 + _RANDOM_TRIALS, multivariate=True, **options
        )
        return drawing

    def pruner(self) -> optuna.pruners.BasePruner:
        """Return what says which trial is hopeless."""
        pruners = import_optuna().pruners
        pruning: optuna.pruners.BasePruner = pruners.MedianPruner(n_startup_trials=3, n_warmup_steps=self.warmup)
        return pruning

    def proposal(self, trial: optuna.Trial, ignored: tuple[type[Exception], ...] = ()) -> Proposal:
        """Return what a trial is drawn as; errors of its study that are ``ignored`` say nothing of its hopes."""
        changes = {parameter.name: parameter.suggest(trial) for parameter in self.space}

        def hopeless(epoch: int, value: float) -> bool:
            try:
                trial.report(value, epoch)
                return trial.should_prune()
            except ignored:
                return False

        drawn = {name: value for name, value in trial.params.items() if value != changes[name]}
        return Proposal(changes, drawn, hopeless)


def importances(space: Space, ended: Sequence[Trial]) -> Mapping[str, float]:
    """Return which share of the differences between trials each setting explains (PED-ANOVA); empty for few trials."""
    judged = [trial for trial in ended if trial.judged]
    if len(judged) < _ENOUGH or len({trial.value for trial in judged}) < 2:
        return {}
    found: dict[str, float] = import_optuna().importance.get_param_importances(_study(space, judged))
    return found


def import_optuna() -> ModuleType:
    """Import optuna, which is an extra, and silence its log."""
    try:
        import optuna
    except ImportError:
        raise InputError("a search needs optuna: pip install 'clausal[search]'") from None
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    return optuna


def _study(space: Space, ended: Sequence[Trial]) -> optuna.Study:
    """Return optuna's study of the trials that ended, in memory."""
    optuna = import_optuna()
    study: Any = optuna.create_study(direction="maximize")
    distributions = {parameter.name: parameter.distribution() for parameter in space}
    states = optuna.trial.TrialState
    for trial in ended:
        study.add_trial(
            optuna.trial.create_trial(
                state=states.COMPLETE if trial.judged else states.PRUNED,
                value=trial.value if trial.judged else None,
                params={**trial.changes, **trial.drawn},
                distributions=distributions,
                intermediate_values=dict(trial.validations),
            )
        )
    return study
