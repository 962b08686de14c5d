"""A run that grows with its graph: new facts, new entities folded in, facts withdrawn; the old run stays as it is."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor, nn

import clausal
from clausal.errors import InputError, RunError, count
from clausal.files import atomic_folder, check_new_folder
from clausal.graph.changes import Change, change_graph
from clausal.graph.facts import Facts, no_facts, occur_in
from clausal.graph.graph import Graph
from clausal.graph.loading import load_graph
from clausal.logic.syntax import Constant
from clausal.model.build import build_predictor
from clausal.model.described import DescribedEncoder
from clausal.model.encoders import FrozenTable, Table
from clausal.model.predictor import LinkPredictor
from clausal.observer import Observer
from clausal.run.checkpoint import write_tensors
from clausal.run.directory import MODEL, write_finished
from clausal.run.unseen import as_table, described_encoder_of, with_own_vectors
from clausal.training.folding import REFINE, Limits, fold_in, refine, require_foldable

_DERIVED_AT_MOST = 20
"""Facts that the closure around new entities may have, for each one that it starts from."""

if TYPE_CHECKING:
    from clausal.fusion import Fusion
    from clausal.run.run import Run


@dataclass(frozen=True)
class Updated:
    """What one update did; ``metrics.json`` keeps a list of these under ``updates``."""

    added: int
    withdrawn: int
    new_entities: int
    moved: int
    """Known entities whose vectors were moved."""
    refine: int
    date: str
    clausal: str

    def __str__(self) -> str:
        parts = [count(self.added, "new fact"), count(self.new_entities, "new entity", "new entities")]
        if self.withdrawn:
            parts.append(f"{count(self.withdrawn, 'fact')} withdrawn")
        if self.moved:
            parts.append(f"vectors of {count(self.moved, 'known entity', 'known entities')} refined")
        return ", ".join(parts)


def update_run(
    run: Run,
    facts: Any,
    remove: Any,
    *,
    refine_passes: int,
    refine_new: bool | None,
    descriptions: Mapping[str, Any] | None,
    out: str | Path | None,
    observer: Observer,
) -> Run:
    """Return a run on the changed graph, and write it to ``out`` where that is given."""
    _require_updatable(run, refine_passes)
    if descriptions is not None:
        described_encoder_of(run.predictor)
    if out is not None:
        check_new_folder(Path(out), "choose another --out: the old run stays as it is")
    change = change_graph(run.graph, _read(facts), _read(remove))
    if not len(change.added) and not len(change.withdrawn):
        raise InputError("nothing to update: every new fact is in train already, and none is withdrawn")
    for note in change.notes:
        observer.message(f"note: {note}")
    texts = _about_new(descriptions, change)
    derived = _derived(run, change, observer)
    predictor = _grown(run, change, derived, observer)
    moving = torch.empty(0, dtype=torch.int64)
    if refine_passes:
        moving = _around(change, derived, run, new_ones=refine_new)
    if len(moving):
        _refine(predictor, change, derived, moving, run, refine_passes, observer)
    if isinstance(run.predictor.encoder, DescribedEncoder):
        predictor = with_own_vectors(run.predictor, predictor, texts, run.settings.descriptions.encoder)
    _check(run, predictor, Limits.of(run.predictor))
    _say_kept(run, change, refine_passes, observer)
    done = Updated(
        len(change.added),
        len(change.withdrawn),
        change.new_entities,
        int((moving < len(run.graph.entities)).sum()),
        refine_passes,
        datetime.now(UTC).isoformat(timespec="seconds"),
        clausal.__version__,
    )
    fusion = _carried(run, change.graph, observer)
    metrics = {**run.metrics, "updates": [*run.metrics.get("updates", ()), asdict(done)]}
    updated = replace(
        run, predictor=predictor, graph=change.graph, metrics=metrics, path=None, fused=fusion, index=None
    )
    if out is None:
        return updated
    _write(Path(out), updated, like=run.path)
    return replace(updated, path=Path(out))


def _write(out: Path, run: Run, like: Path | None) -> None:
    """Write a run directory, all of it or nothing."""
    encoder = run.predictor.encoder
    features = encoder.features if isinstance(encoder, DescribedEncoder) else ()
    with atomic_folder(out) as folder:
        about = run.graph, run.clauses, run.settings, run.metrics, run.calibration
        write_finished(folder, *about, like=like, features=features)
        if run.fused is not None:
            from clausal.run.fusion_files import write_fusion

            write_fusion(folder, run.fused, run.graph)
        write_tensors(folder / MODEL, run.predictor.state_dict(), {})


def _read(facts: Any) -> Graph | None:
    """Return facts, given in any form that a graph can be read from, as one graph without splits."""
    if facts is None or isinstance(facts, Graph):
        return facts
    return load_graph(facts, valid=0, test=0)


def _require_updatable(run: Run, passes: int) -> None:
    require_foldable(run.predictor)
    if passes < 0:
        raise InputError(f"refine must be 0 or more passes; got {passes}")
    if not isinstance(run.predictor.encoder, Table | DescribedEncoder):
        raise InputError(
            "the run has an encoder of its own, which alone knows the vectors of new entities; "
            "give it to clausal.train with the new graph"
        )


def _about_new(descriptions: Mapping[str, Any] | None, change: Change) -> dict[int, Any]:
    """Return what describes new entities, by their ids; a description of any other name is refused."""
    known = len(change.graph.entities) - change.new_entities
    found = dict(zip(change.graph.entities.ids(descriptions or {}).tolist(), (descriptions or {}).items(), strict=True))
    for place, (name, _) in found.items():
        if place < known:
            why = "is an entity of the run already" if place >= 0 else "is in no new fact"
            raise InputError(f"'{name}' {why}; describe new entities of the new facts alone")
    return {place: given for place, (_, given) in sorted(found.items())}


def _derived(run: Run, change: Change, observer: Observer) -> Facts:
    """Return the facts about new entities that follow from the new facts by the run's clauses without exceptions.

    The train facts of all entities that the new facts are about may take part.
    """
    from clausal.logic.closure import close

    sure = [clause for clause in run.clauses if clause.certainty == 1]
    if not sure or not change.new_entities:
        return no_facts()
    graph, known = change.graph, len(change.graph.entities) - change.new_entities
    near = graph.train[np.isin(graph.train[:, [0, 2]], change.added[change.about_new][:, [0, 2]]).any(axis=1)]
    try:
        closure = close(graph, sure, facts=near, limit=_DERIVED_AT_MOST * len(near), observer=observer)
    except RunError:
        observer.message("note: the clauses derive very much from the new facts; new entities are folded in without it")
        return no_facts()
    found = closure.facts[len(near) :]
    found = found[(found[:, [0, 2]] >= known).any(axis=1)]
    sizes = len(graph.entities), len(graph.relations)
    return found[~(occur_in(found, graph.train, *sizes) | occur_in(found, change.withdrawn, *sizes))]


def _grown(run: Run, change: Change, derived: Facts, observer: Observer) -> LinkPredictor:
    """Return the model with a vector for each new entity, as a table; the old one is not changed."""
    old, graph = as_table(run.predictor), change.graph
    about_new = np.concatenate([change.added[change.about_new], derived])
    train, facts = (torch.from_numpy(part) for part in (run.graph.train, about_new))
    new = fold_in(old, train, facts, change.new_entities, run.settings, observer=observer)
    vectors = torch.cat([old.encode_all().detach(), new])
    sizes = len(graph.entities), len(graph.relations)
    grown = build_predictor(run.settings.model, *sizes, vectors=vectors, scorer=deepcopy(old.scorer)).to(old.device)
    # As they are: a projection of what lies in the domain may still round it.
    grown.encoder.weight = nn.Parameter(vectors, requires_grad=not isinstance(grown.encoder, FrozenTable))
    grown.relations = nn.Parameter(old.relations.detach().clone())
    return grown.eval()


def _around(change: Change, derived: Facts, run: Run, *, new_ones: bool | None) -> Tensor:
    """Return the entities that a refinement moves: those of changed facts that no clause names, as sorted ids.

    Unless said otherwise, of the new ones those about which clauses derive something: what is asked about them follows
    in part from what was told, and they fit it better. Others stay where they were folded in, among entities that are
    like them; new ones and their neighbours, moved together, leave these behind.
    """
    entities, known = change.graph.entities, len(run.graph.entities)
    terms = {term for clause in run.clauses for atom in clause.atoms for term in atom.terms}
    fixed = entities.ids(term.name for term in terms if isinstance(term, Constant))
    touched = np.unique(np.concatenate([change.added, change.withdrawn])[:, [0, 2]])
    if new_ones is None:
        touched = touched[(touched < known) | np.isin(touched, derived[:, [0, 2]])]
    elif not new_ones:
        touched = touched[touched < known]
    return torch.from_numpy(np.setdiff1d(touched, fixed).astype(np.int64)).to(run.predictor.device)


def _refine(
    predictor: LinkPredictor,
    change: Change,
    derived: Facts,
    moving: Tensor,
    run: Run,
    passes: int,
    observer: Observer,
) -> None:
    train = torch.from_numpy(np.concatenate([change.graph.train, derived]))
    vectors = refine(
        predictor,
        train,
        moving,
        run.settings,
        passes=passes,
        withdrawn=torch.from_numpy(change.withdrawn),
        limits=Limits.of(run.predictor),
        observer=observer,
    )
    assert isinstance(predictor.encoder, Table)
    predictor.encoder.weight.data[moving] = vectors


def _check(run: Run, predictor: LinkPredictor, limits: Limits) -> None:
    """Make sure that certificates over the region still hold: the same relations, and no vector outside of it."""
    same = torch.equal(predictor.relations, run.predictor.relations)
    if not same or not limits.contain(predictor.encode_all().detach()):
        raise RunError(
            "the update left the region of the run's certificates; this is a mistake in clausal, please report it"
        )


def _say_kept(run: Run, change: Change, passes: int, observer: Observer) -> None:
    """Say what still holds, and what an update does not do."""
    if run.clauses:
        observer.message(
            "relations did not move, nor what clauses name: every clause that held for all entities still does"
        )
    still = int((~change.about_new).sum())
    if not passes and (still or len(change.withdrawn)):
        parts = [count(still, "new fact") + " between known entities"] * bool(still)
        parts += [count(len(change.withdrawn), "withdrawn fact")] * bool(len(change.withdrawn))
        observer.message(
            f"note: {' and '.join(parts)} left the vectors of known entities as they are: they count as facts, in "
            f"proofs and in votes; to move the vectors too, refine (--refine {REFINE})"
        )
    observer.message("note: metrics and probabilities are those measured on the graph before; evaluate measures anew")


def _carried(run: Run, graph: Graph, observer: Observer) -> Fusion | None:
    """Return the run's votes on the changed graph: rules and weights stay, and vote by the new facts."""
    if not run.is_fused:
        return None
    from clausal.fusion.carrying import on_changed_graph

    observer.message("note: the rules vote on the new facts with the confidence they had; fuse again to count anew")
    return on_changed_graph(run.fusion, graph)
