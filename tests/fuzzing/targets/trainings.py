"""Small trainings with settings that are all allowed, sizes small and numbers anywhere: no combination crashes."""

from __future__ import annotations

import typing
from pathlib import Path

from hypothesis import strategies as st

from clausal import Graph, Settings, parse_clauses
from clausal.choices import SCORERS
from clausal.config import LARGEST_REAL
from clausal.run import train
from fuzzing.cases import Case
from fuzzing.targets import Target

GRAPH = Graph.from_triples([(f"e{i}", "pqr"[i % 3], f"e{(7 * i) % 11}") for i in range(40)]).split(valid=0.1, test=0.1)
CLAUSES = [
    "p(X, Y) => q(Y, X)", "p(X, Y), q(Y, Z) => r(X, Z)", "p(X, e1) => q(X, e2)", "p(X, Y) => q(X, Y) <hard>",
    "p(X, Y), q(X, Y) => false", "0.5: p(X, Y) <=> r(X, Y)", "p(e1, e2)", "p(X, X) => q(X, X) <hard>",
    "p(X, Y) | q(X, Y)",
]  # fmt: skip
_SKIPPED = {"model.pretrained", "model.pretrained_names", "train.device", "train.checkpoint_seconds", "model.encoder"}
_SIZES = st.integers(1, 3)
_REALS = st.sampled_from([0.0, 1e-30, 1e-6, 0.1, 0.5, 0.99, 1.0, 10.0, 1e6, 1e20, LARGEST_REAL, -1.0, -1e20])
_SPECIAL = {
    "model.dim": st.sampled_from([1, 2, 4, 6]),
    "model.scorer": st.sampled_from(sorted(SCORERS)),
    "model.hidden": st.lists(_SIZES, max_size=2),
    "clauses.steps": st.integers(0, 3),
    "train.seed": st.sampled_from([0, 1, 2**32, 2**63 - 1]),
    "evaluate.every": st.integers(0, 2),
    "evaluate.patience": st.integers(0, 2),
}


def _words(annotation: object) -> list[object]:
    """Return the words and truth values that a setting can be."""
    found = [word for word in typing.get_args(annotation) if isinstance(word, str)]
    inner = [one for part in typing.get_args(annotation) if not isinstance(part, str) for one in _words(part)]
    return found + inner


def _values(key: str, annotation: object) -> st.SearchStrategy[object]:
    if key in _SPECIAL:
        return _SPECIAL[key]
    words = _words(annotation)
    if annotation is bool:
        return st.booleans()
    kinds = str(annotation)
    numbers = [_SIZES] if "int" in kinds else [_REALS] if "float" in kinds else []
    if "tuple" in kinds:
        return st.tuples(_REALS, _REALS)
    return st.one_of(*([st.sampled_from(words)] if words else []), *numbers, *([st.none()] if "None" in kinds else []))


_SETTINGS = {
    f"{section}.{name}": _values(f"{section}.{name}", field.annotation)
    for section, part in Settings.model_fields.items()
    for name, field in part.annotation.model_fields.items()
    if section != "descriptions" and f"{section}.{name}" not in _SKIPPED
}
_BASE = {"model": {"dim": 4}, "facts": {"batches": 2}, "clauses": {"sets": 2, "steps": 2}}
_BASE |= {"train": {"epochs": 1, "passes": 1, "device": "cpu"}, "evaluate": {"every": 1}}


@st.composite
def _cases(draw: st.DrawFn) -> Case:
    chosen = draw(st.lists(st.sampled_from(sorted(_SETTINGS)), max_size=6, unique=True))
    settings = {key: draw(_SETTINGS[key]) for key in chosen}
    clauses = draw(st.lists(st.sampled_from(CLAUSES), max_size=3, unique=True))
    return Case({}, {"settings": settings, "clauses": clauses})


def run(case: Case, folder: Path) -> None:
    """Train one epoch, and ask, evaluate and certify the model."""
    sections = {section: dict(values) for section, values in _BASE.items()}
    for key, value in case.options["settings"].items():
        section, _, name = key.partition(".")
        sections[section][name] = value
    clauses = parse_clauses("\n".join(case.options["clauses"]))
    trained = train(GRAPH, clauses, Settings.from_mapping(sections))
    trained.predict("p(e1, ?)")
    if clauses:
        trained.certify()


TARGET = Target(
    _cases(), run, slice=40, prepare=lambda: run(Case({}, {"settings": {}, "clauses": CLAUSES[:2]}), Path())
)
