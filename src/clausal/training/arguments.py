"""What a training is given from Python, checked before anything is built: each mistake gets one message."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy

from torch import nn

from clausal.config import FactSettings, Settings
from clausal.errors import InputError
from clausal.graph.graph import Graph
from clausal.logic.syntax import Clause
from clausal.model.contracts import ContractError, check_encoder, check_scorer
from clausal.model.scorers.base import MultilinearScorer, Scorer


def check_arguments(
    graph: Graph,
    clauses: Sequence[Clause] | str,
    settings: Settings,
    scorer: Scorer | None = None,
    encoder: nn.Module | None = None,
) -> None:
    """Check the kinds of the arguments, and that a user's own modules keep their contracts."""
    _require(graph, Graph, "graph", "use clausal.load_graph or Graph.from_triples")
    _require(settings, Settings, "settings", "use clausal.Settings.from_mapping or Settings.load")
    if isinstance(clauses, str):
        raise InputError("clauses: expected a list of clauses, got text; use clausal.parse_clauses or read_clauses")
    for clause in clauses:
        _require(clause, Clause, "clauses", "use clausal.parse_clauses or read_clauses")
    if not len(graph.train):
        raise InputError(f"{graph.name}: the train split is empty")
    if scorer is not None:
        _require(scorer, Scorer, "scorer", "derive it from clausal.model.Scorer")
        _check_facts(settings.facts, scorer)
    try:
        if scorer is not None:
            check_scorer(deepcopy(scorer).cpu())
        if encoder is not None:
            dim = scorer.dim if scorer is not None else settings.model.dim
            check_encoder(deepcopy(encoder).cpu(), len(graph.entities), dim)
    except ContractError as error:
        raise InputError(f"{'scorer' if encoder is None else 'scorer or encoder'}: {error}") from None


def _check_facts(facts: FactSettings, scorer: Scorer) -> None:
    """Refuse what needs more of a user's own scorer than it has; settings know those that come with clausal."""
    name = type(scorer).__name__
    if facts.regulariser == "dura" and not isinstance(scorer, MultilinearScorer):
        raise InputError(f"facts.regulariser: dura is for a MultilinearScorer, which {name} is not; use none, f2 or n3")
    if facts.relation_weight and scorer.terms is None:
        raise InputError(f"facts.relation_weight: is for scorers with trilinear terms, which {name} lacks; set it to 0")


def _require(value: object, kind: type, name: str, hint: str) -> None:
    if not isinstance(value, kind):
        raise InputError(f"{name}: expected a {kind.__name__}, got {type(value).__name__}; {hint}")
