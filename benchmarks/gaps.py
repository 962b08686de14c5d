"""How wide certificates of TransE and RotatE are beside constants: bounds next to the best that a search finds.

    python benchmarks/gaps.py [--scorers rotate l2] [--places sphere cube] [--dims 64] [--seeds 0] [--processes 4]

Random models on every region, clauses of many shapes, under all semantics that have bounds. The search is independent
of the bounds: projected steps of falling length along the gradient of the violation from 128 starts, random vectors and
entities, then again from its best ones. A gap is 1 − best / bound, where best is the larger one of what the search
found and what the certificate attained. No bound may be below what was found. Models that were measured before keep
their rows in the record, and those that are measured again get new ones.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from typing import Any, cast

import torch
from torch import Tensor

from clausal.adversary import certify, group_clauses
from clausal.adversary.clauses import ClauseGroup
from clausal.adversary.regions import projected, region_of
from clausal.adversary.semantics import Godel, Semantics, Sum, Threshold
from clausal.choices import RegionName
from clausal.graph import Names
from clausal.logic import parse_clause
from clausal.model import Ball, Box, Cube, Domain, LinkPredictor, Sphere, Table, Unbounded
from clausal.model.scorers import RotatE, TransE
from clausal.model.scorers.transe import Norm
from common.processes import store

ROOT = Path(__file__).parent.parent
ENTITIES = Names([f"e{i}" for i in range(6)], "entity")
RELATIONS = Names(["p", "q", "r"], "relation")
PLACES: dict[str, tuple[Domain, RegionName]] = {
    "sphere": (Sphere(), "domain"),
    "ball": (Ball(), "domain"),
    "cube": (Cube(), "domain"),
    "hull": (Box(-0.5, 0.75), "hull"),
    "discs": (Unbounded(), "discs"),
}
SHAPES = (
    "p(X,Y) => q(X,Y)",
    "p(X,Y) => q(Y,X)",
    "p(X,'e1') => q(X,'e2')",
    "p(X,'e1') => q(X,X)",
    "p(X,X) => q(X,'e1')",
    "p(X,Y) => q(X,'e1')",
    "p(X,'e1') => q(X,Y)",
    "p(X,'e1') => q(Y,'e2')",
    "p(X,Y) => q(X,X)",
    "p(X,'e1'), q(X,'e2') => r(X,'e3')",
    "p(X,'e1'), q(X,X) => r(X,'e3')",
    "p(X,Y), q(Y,'e1') => r(X,'e2')",
    "p(X,'e1'), q('e2',Y) => r(X,Y)",
    "p(X,Y), q(Y,X) => r(X,'e1')",
    "p(X,Y), q(Y,Z) => r(X,Z)",
)
_MODEL = "scorer", "dim", "region", "seed"
_STARTS, _STEPS, _AGAIN = 64, 200, 16


def main() -> None:
    """Measure, print and store the gaps."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scorers", nargs="*", default=["rotate"], help="rotate, or norms of TransE")
    parser.add_argument("--places", nargs="*", choices=PLACES, default=["sphere", "ball"])
    parser.add_argument("--shapes", nargs="*", default=list(SHAPES))
    parser.add_argument("--dims", type=int, nargs="*", default=[64])
    parser.add_argument("--seeds", type=int, nargs="*", default=[0])
    parser.add_argument("--processes", type=int, default=1, help="models measured at the same time")
    parser.add_argument("--out", type=Path, default=ROOT / "results/benchmarks/gaps.json")
    options = parser.parse_args()
    models = list(product(options.scorers, options.dims, options.places, options.seeds))
    before = json.loads(options.out.read_text()) if options.out.exists() else {"commands": [], "rows": []}
    kept = [row for row in before["rows"] if tuple(row[part] for part in _MODEL) not in models]
    commands = [*before["commands"], "python benchmarks/gaps.py " + " ".join(sys.argv[1:])]
    rows: list[dict[str, Any]] = []
    with ProcessPoolExecutor(options.processes, mp_context=get_context("spawn")) as pool:
        for found in pool.map(partial(measure, options.shapes), models):
            rows += found
            store(options.out, {"commands": commands, "rows": kept + rows})
    beaten = [row for row in rows if row["found"] > row["bound"] * (1 + 1e-9) + 1e-9]
    print(f"{len(rows)} certificates, {len(beaten)} beaten: {beaten}" if beaten else f"{len(rows)}, none beaten")


def measure(shapes: Sequence[str], model: tuple[str, int, str, int]) -> list[dict[str, Any]]:
    """Return the rows of one random model."""
    torch.set_num_threads(1)
    scorer, dim, place, seed = model
    predictor = random_model(scorer, PLACES[place][0], dim, seed)
    found = [one for text in shapes for one in gaps(predictor, text, PLACES[place][1])]
    _print(found, f"{scorer}, dim {dim}, {place}, seed {seed}")
    return [dict(zip(_MODEL, model, strict=True)) | one for one in found]


def random_model(scorer: str, domain: Domain, dim: int, seed: int) -> LinkPredictor:
    """Return a model with entities all over its domain, and relations of about the size of entities."""
    generator = torch.Generator().manual_seed(seed)
    made = RotatE(dim) if scorer == "rotate" else TransE(dim, cast(Norm, scorer))
    predictor = LinkPredictor(
        Table(len(ENTITIES), dim), made, num_entities=len(ENTITIES), num_relations=len(RELATIONS), domain=domain
    ).double()
    vectors = torch.randn(len(ENTITIES), dim, generator=generator, dtype=torch.float64)
    vectors = torch.rand(vectors.shape, generator=generator).double() * 1.25 - 0.5 if domain.name == "box" else vectors
    predictor.encoder.weight.data = domain.project(vectors)
    scale = 1.0 if scorer == "rotate" else 1 / dim**0.5 if domain.name in ("sphere", "ball") else 0.4
    predictor.relations.data.normal_(generator=generator).mul_(scale)
    return predictor


def gaps(predictor: LinkPredictor, text: str, region: RegionName) -> list[dict[str, Any]]:
    """Return bound, attained and found of a clause under all semantics."""
    (group,) = group_clauses([parse_clause(text)], ENTITIES, RELATIONS)
    apart = -predictor.score(*_all_facts()).mean().item()  # thresholds that both are met and missed
    rows = []
    for name, semantics in {"godel": Godel(), "sum": Sum(), "threshold": Threshold(-apart, -apart)}.items():
        if name == "sum" and len(group.shape.atoms) < 3:
            continue  # the same as Gödel's for one atom
        started = time.perf_counter()
        (certificate,) = certify(predictor, [group], region=region, semantics=semantics)
        seconds = time.perf_counter() - started
        bound, attained = certificate.bound.item(), certificate.attained.item()
        found = search(predictor, group, semantics, region)
        best = max(found, attained)
        gap = 0.0 if bound <= 0 else 1 - best / bound
        kind = {"clause": text, "semantics": name, "bound": bound, "attained": attained, "found": found}
        rows.append(kind | {"gap": gap, "seconds": round(seconds, 2)})
    return rows


def _all_facts() -> tuple[Tensor, ...]:
    entities, relations = (torch.arange(count) for count in (len(ENTITIES), len(RELATIONS)))
    return torch.cartesian_prod(entities, relations, entities).unbind(1)


def search(predictor: LinkPredictor, group: ClauseGroup, semantics: Semantics, region: RegionName) -> float:
    """Return the largest violation that projected ascent finds."""
    place, generator = region_of(predictor, group, region), torch.Generator().manual_seed(1)
    dim, free = predictor.scorer.dim, group.slots(predictor).free
    drawn = 1.5 * torch.randn(1, _STARTS, free, dim, generator=generator, dtype=torch.float64)
    entities = predictor.encode(torch.randint(len(ENTITIES), (1, _STARTS, free), generator=generator)).detach()
    vectors = projected(predictor, place, torch.cat([drawn, entities], 1))
    best = vectors.new_full(vectors.shape[:2], -torch.inf)
    where = vectors.clone()
    for start, shorter in ((1.0, 0.97), (0.3, 0.97), (0.05, 0.96)):
        for step in range(_STEPS):
            vectors = vectors.detach().requires_grad_()
            value = group.unclipped(predictor, semantics, vectors)
            (gradient,) = torch.autograd.grad(value.sum(), vectors)
            better = value.detach() > best
            best[better], where[better] = value.detach()[better], vectors.detach()[better]
            length = gradient.flatten(2).norm(dim=-1)[..., None, None].clamp_min(1e-12)
            vectors = projected(predictor, place, (vectors + start * shorter**step * gradient / length).detach())
        chosen = best[0].topk(min(_AGAIN, best.shape[1])).indices
        best, where = best[:, chosen], where[:, chosen]
        vectors = where.clone()
    return max(0.0, float(best.max()))


def _print(rows: Sequence[dict[str, Any]], title: str) -> None:
    print(f"\n{title}")
    for row in rows:
        print(
            f"  {row['clause']:36} {row['semantics']:9} bound {row['bound']:8.4f}  attained {row['attained']:8.4f}  "
            f"found {row['found']:8.4f}  gap {100 * row['gap']:6.2f} %  {row['seconds']:6.2f} s",
            flush=True,
        )


if __name__ == "__main__":
    main()
