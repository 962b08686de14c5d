"""Certificates of a run: each clause over a region of vectors and over the real entities, in names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, get_args

import torch

from clausal.adversary import SEMANTICS, ClauseGroup, Semantics, group_clauses
from clausal.adversary.certificates import Certificate, certify, default_tolerance
from clausal.adversary.hard.proof import proven
from clausal.adversary.reciprocal import all_readings
from clausal.adversary.regions import resolved
from clausal.adversary.semantics import Threshold, make_semantics
from clausal.choices import RegionName, SemanticsName
from clausal.config import LARGEST_REAL, Settings
from clausal.errors import InputError, count, did_you_mean
from clausal.evaluation.entities import EntityCheck, check_entities
from clausal.graph.graph import Graph
from clausal.logic import check_clauses
from clausal.logic.normal_forms import simplified
from clausal.logic.shape import AtomShape, Slot
from clausal.logic.syntax import Clause, Implies
from clausal.model.predictor import LinkPredictor
from clausal.observer import Observer
from clausal.run.verdicts import ClauseCertificate, EntityFigures, Example, Verdict, verdict

if TYPE_CHECKING:
    from clausal.run.deciding import DecisionFigures

_ROUNDING = 1e-9  # attained and bound of a closed form differ by as much in double precision


@dataclass(frozen=True, eq=False)
class Certification:
    """The certificates of clauses, in their order, and what they are about."""

    clauses: list[ClauseCertificate]
    region: str
    semantics: str
    thresholds: tuple[float, float] | None
    tolerance: float

    def __repr__(self) -> str:
        verdicts = ", ".join(f"{found:,} {verdict}" for verdict, found in self.verdicts.items())
        return f"<Certification of {count(len(self.clauses), 'clause')} over {self.region}: {verdicts}>"

    def _repr_html_(self) -> str:
        from clausal.drawing import notebook
        from clausal.run.html import certification_html

        return notebook(certification_html(self))

    @property
    def verdicts(self) -> dict[str, int]:
        """How many clauses have which verdict, the strongest first."""
        counts = Counter(one.verdict for one in self.clauses)
        return {verdict: counts[verdict] for verdict in get_args(Verdict) if counts[verdict]}

    def with_decisions(self, decisions: Sequence[DecisionFigures | None]) -> Certification:
        """Return the certificates with what a run accepts about each clause."""
        pairs = zip(self.clauses, decisions, strict=True)
        return replace(self, clauses=[one.with_decisions(found) for one, found in pairs])

    def to_dict(self) -> dict[str, Any]:
        """Return what ``clausal certify --format json`` prints."""
        return {
            "region": self.region,
            "semantics": self.semantics,
            "thresholds": self.thresholds,
            "tolerance": self.tolerance,
            "verdicts": self.verdicts,
            "clauses": [one.to_dict() for one in self.clauses],
        }


def certify_clauses(
    predictor: LinkPredictor,
    graph: Graph,
    clauses: Sequence[Clause],
    settings: Settings,
    *,
    region: RegionName = "auto",
    entities: bool = True,
    tolerance: float | None = None,
    semantics: SemanticsName | None = None,
    thresholds: tuple[float, float] | None = None,
    observer: Observer | None = None,
) -> Certification:
    """Certify clauses on a trained predictor; the settings give semantics and tolerance where none are named."""
    if not clauses:
        raise InputError("the run was trained without clauses; give clauses to certify: --clauses FILE")
    _check_known("region", region, get_args(RegionName))
    region = resolved(region, predictor)
    check_clauses(clauses, graph.entities, graph.relations)
    tolerance = default_tolerance(settings.facts.margin) if tolerance is None else _checked_tolerance(tolerance)
    meaning = _semantics(settings, semantics, thresholds)
    groups = [group.to(predictor.device) for group in group_clauses(clauses, graph.entities, graph.relations)]
    facts = torch.from_numpy(graph.train).to(predictor.device)
    observer = observer or Observer()
    known = [proven(predictor, group, meaning, region) for group in groups]
    unproven = _unproven(groups, known) if _in_domain(predictor) else groups
    checks = _check(predictor, unproven, entities, meaning, tolerance, observer)
    certificates = certify(
        predictor,
        groups,
        semantics=meaning,
        region=region,
        facts=facts,
        starts=[_worst_entities(group, checks) for group in groups],
        known=known,
        advanced=lambda done: observer.advanced("bounding", done, len(clauses), "clauses"),
    )
    found = {
        id(clause): _certificate(
            group, certificate, place, checks.get(id(clause)), entities, predictor, graph, tolerance, meaning
        )
        for group, certificate in zip(groups, certificates, strict=True)
        for place, clause in enumerate(group.clauses)
    }
    limits = (meaning.body, meaning.head) if isinstance(meaning, Threshold) else None
    return Certification([found[id(clause)] for clause in clauses], region, meaning.name, limits, tolerance)


def _semantics(settings: Settings, name: SemanticsName | None, thresholds: tuple[float, float] | None) -> Semantics:
    """Return the semantics asked for, or else that of the training."""
    about = settings.clauses
    name = name or about.semantics
    _check_known("semantics", name, SEMANTICS)
    if thresholds is not None and name != "threshold":
        raise InputError(f"thresholds go with threshold semantics, not with {name}: --semantics threshold")
    if thresholds is not None and not all(-LARGEST_REAL <= one <= LARGEST_REAL for one in thresholds):
        given = ",".join(f"{one:g}" for one in thresholds)
        raise InputError(f"thresholds: numbers from {-LARGEST_REAL:g} to {LARGEST_REAL:g} are allowed; got {given}")
    return make_semantics(about.model_copy(update={"semantics": name, "thresholds": thresholds or about.thresholds}))


def _check_known(kind: str, name: str, known: Iterable[str]) -> None:
    if name not in known:
        raise InputError(f"unknown {kind} '{name}'{did_you_mean(name, known) or '; known: ' + ', '.join(known)}")


def _checked_tolerance(tolerance: float) -> float:
    if not 0 <= tolerance < float("inf"):
        raise InputError(f"the tolerance must be a number of at least 0; got {tolerance}")
    return tolerance


def _check(
    predictor: LinkPredictor,
    groups: Sequence[ClauseGroup],
    wanted: bool,
    semantics: Semantics,
    tolerance: float,
    observer: Observer,
) -> dict[int, EntityCheck]:
    """Return what the entities say of each clause, by its id; nothing where they are not to be asked."""
    clauses = [clause for group in groups for clause in group.clauses]
    if not wanted:
        return {}
    checks = check_entities(
        predictor,
        groups,
        semantics=semantics,
        tolerance=tolerance,
        observer=observer,
    )
    return {id(clause): check for clause, check in zip(clauses, checks, strict=True)}


def _certificate(
    group: ClauseGroup,
    certificate: Certificate,
    place: int,
    check: EntityCheck | None,
    entities: bool,
    predictor: LinkPredictor,
    graph: Graph,
    tolerance: float,
    semantics: Semantics,
) -> ClauseCertificate:
    attained, largest = certificate.attained[place].item(), certificate.bound[place].item()
    bound = largest if largest < float("inf") else None
    exact = bound is not None and bound - attained <= _ROUNDING * max(1.0, bound)
    unchecked = None if check is None else check.reason
    figures = None
    if entities and check is None:
        figures = EntityFigures(_assignments(group, predictor), 0.0, 0.0, 0.0, None)
    elif check is not None and check.reason is None:
        example = _example(group, place, check, predictor, graph, semantics) if check.largest > 0 else None
        figures = EntityFigures(check.checked, check.rate, check.mean, check.largest, example)
    judged = verdict(attained, bound, figures.worst if figures else None, tolerance)
    clause = group.clauses[place]
    return ClauseCertificate(clause, attained, bound, exact, certificate.method_of(place), figures, unchecked, judged)


@torch.no_grad()
def _in_domain(predictor: LinkPredictor) -> bool:
    """Tell whether the entities lie where proofs by order hold, as those of a file that was changed may not."""
    never_negative = predictor.domain.never_negative(predictor.scorer.dim).to(predictor.device)
    return bool((predictor.encode_all()[:, never_negative] >= 0).all())


def _unproven(groups: Sequence[ClauseGroup], known: Sequence[torch.Tensor]) -> list[ClauseGroup]:
    """Return the clauses that the order of parameters does not prove: what it proves, entities need not be asked."""
    return [
        group.some(places, tuple(group.clauses[place] for place in places.tolist()))
        for group, holds in zip(groups, known, strict=True)
        if len(places := (~holds).nonzero().squeeze(1))
    ]


def _worst_entities(group: ClauseGroup, checks: dict[int, EntityCheck]) -> torch.Tensor:
    """Return the entities that violate each clause most [clauses, 1, variables], where a search may start."""
    found = [checks[id(clause)].worst if id(clause) in checks else {} for clause in group.clauses]
    ids = [list(worst.values()) or [0] * group.shape.variables for worst in found]
    return torch.tensor(ids, dtype=torch.long).reshape(len(group), 1, group.shape.variables)


def _assignments(group: ClauseGroup, predictor: LinkPredictor) -> int:
    """Return how many assignments of entities a clause that is proven to hold stands for."""
    return predictor.num_candidates if predictor.of_pairs else int(predictor.num_entities**group.shape.variables)


@torch.no_grad()
def _example(
    group: ClauseGroup, place: int, check: EntityCheck, predictor: LinkPredictor, graph: Graph, semantics: Semantics
) -> Example:
    """Name the entities that violate a clause most, and what they make of its body and head."""
    names = {variable: graph.entities[id] for variable, id in check.worst.items()}
    scored = None if predictor.rows_per_relation == 1 else check.reading
    match simplified(group.shape.formula):
        case Implies(body, head):
            scores = _scores(all_readings(group, predictor)[check.reading], place, check, predictor.with_inverses())
            in_body, in_head = semantics.sides(body, head, scores)
            return Example(names, check.largest, in_body.item(), in_head.item(), scored)
        case _:
            return Example(names, check.largest, reading=scored)


def _scores(group: ClauseGroup, place: int, check: EntityCheck, predictor: LinkPredictor) -> torch.Tensor:
    """Score the atoms of a clause for the worst entities [atoms], as the model scores them by their ids."""
    entities = list(check.worst.values())

    def entity(slot: Slot) -> int:
        return entities[slot.index] if slot.kind == "variable" else int(group.constants[place, slot.index])

    def score(atom: AtomShape) -> torch.Tensor:
        ends = entity(atom.subject), entity(atom.object)
        rows = [int(group.relations[place, row]) for row in group.rows_of(atom.index)]
        # A second row is that of the inverse, which has the ends the other way round.
        ids = torch.tensor([(a, row, b) for row, (a, b) in zip(rows, (ends, ends[::-1]), strict=False)])
        return predictor.score(*ids.to(predictor.device).T).mean()

    return torch.stack([score(atom) for atom in group.shape.atoms])
