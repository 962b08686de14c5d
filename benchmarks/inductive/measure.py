"""Facts about entities that training has never seen: WN18RR with a split by entities, and WordNet's texts.

    python tools/wordnet_texts.py DICT descriptions.tsv
    PYTHONPATH=benchmarks python -m inductive --texts descriptions.tsv [--sentences vectors.parquet] [--seeds 0 1 2]

A tenth of the entities is held out for test and one for valid, as in BLP (Daza et al. 2021): no fact of train has
one. Test facts are ranked among all entities, filtered by the facts of all splits. An unseen entity is known by
nothing, by n-grams of its text, by a sentence embedding, or by k of its facts, by which its vector is folded in. These
are drawn among its facts with entities of train; the rest is ranked, without those between the same two entities, so
that the reversed twin of a given fact is never asked for. Clauses say that four relations are symmetric. The number of
passes is given: no model is chosen on test. Each record is written when it is there; those that a file has are not made
again. Sentence embeddings are made once: ``--embed MODEL --sentences vectors.parquet``. ``--settings`` are those that
``inductive.search`` has chosen on valid.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from clausal import Run, Settings, train
from clausal.evaluation import Evaluation, evaluate
from clausal.evaluation.ranks import metrics
from clausal.graph import Facts, Graph, load_graph
from clausal.graph.descriptions import aligned, read_texts
from clausal.graph.splits import UNSEEN_SEEN
from clausal.logic import parse_clauses
from clausal.model import FrozenTable, LinkPredictor
from clausal.model.features.features import embedded
from clausal.observer import Observer
from clausal.training import prepare
from common.machine import describe_machine

ROOT = Path(__file__).parents[2]
SYMMETRIC = ("_also_see", "_derivationally_related_form", "_similar_to", "_verb_group")
CLAUSES = "\n".join(f"{name}(X, Y) => {name}(Y, X)" for name in SYMMETRIC)
GIVEN = (1, 3, 10)
HOW: dict[str, dict[str, Any]] = {"fold-in": {"refine": 0}, "refined": {}, "refined together": {"refine_new": True}}
"""How an update takes in an entity with k of its facts."""
Values = dict[str, dict[str, Any]]
SETTINGS: Values = {
    "clauses": {"adversary": "closed-form", "weight": 0.003},
    "train": {"device": "cpu"},
    "evaluate": {"every": 0},
}
DESCRIBED: Values = {
    "model": {"scorer": "complex", "dim": 256, "domain": "box", "reciprocal": True, "initial_scale": 0.3},
    "facts": {"training": "1-vs-all", "loss": "softmax", "batch_size": 256, "candidates": 256},
    "descriptions": {"own_dropout": 1.0, "feature_dropout": 0.2, "buckets": 2**17},
    "train": {"passes": 1, "epochs": 2, "learning_rate": 0.05, "initial_accumulator": 0.0},
}
METHODS: dict[str, Values] = {
    "n-grams": DESCRIBED | {"facts": DESCRIBED["facts"] | {"batch_size": 512, "candidates": 512}},
    "sentences": {  # the best trial of inductive.search
        "model": DESCRIBED["model"] | {"scorer": "cp", "dim": 1024, "initial_scale": 1.0},
        "facts": DESCRIBED["facts"] | {"batch_size": 1024, "candidates": "all", "label_smoothing": 0.1},
        "descriptions": {"own_dropout": 0.5, "feature_dropout": 0.5, "hidden": 1024},
        "train": DESCRIBED["train"] | {"epochs": 15, "learning_rate": 0.01, "averaging": 0.5},
    },
    "both": DESCRIBED,
    "facts": {  # as the preset wn18-complex
        "model": {"scorer": "complex", "dim": 100, "domain": "sphere"},
        "facts": {"loss": "hinge", "margin": 1, "batches": 10},
        "train": {"passes": 10, "epochs": 30},
    },
}


class Progress(Observer):
    """Prints what a training says."""

    def message(self, text: str) -> None:
        print(f"  {text}", flush=True)

    def epoch(self, record: dict[str, Any]) -> None:
        print(f"  pass {record['epoch']}: loss {record['fact_loss']:.3f}, {record['seconds']:.0f} s", flush=True)


def main() -> None:
    """Make the records that are missing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=Path, required=True)
    parser.add_argument("--sentences", type=Path, help="vectors of all texts, as for clausal train --vectors")
    parser.add_argument("--names", type=Path, help="names of the rows of an .npy file of vectors")
    parser.add_argument("--embed", metavar="MODEL", help="make --sentences by this model of sentence-transformers")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--trainings", type=int, default=1, help="of each split, from other seeds")
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--clauses", choices=("without", "with", "both"), default="both")
    parser.add_argument("--settings", type=Path, help="JSON of settings by method, in place of those in this file")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--workers", type=int, default=1, help="trainings at a time")
    parser.add_argument("--passes", type=int, help="of every training, for a try")
    parser.add_argument("--out", type=Path, default=ROOT / "results/inductive/wn18rr.jsonl")
    options = parser.parse_args()
    whole = load_graph("wn18rr")
    if options.embed:
        embed(options.embed, options.texts, whole, options.sentences)
    asked = {"without": [False], "with": [True], "both": [False, True]}[options.clauses]
    keys = [
        {"method": method, "clauses": clauses, "seed": seed, "training": training}
        for training in range(options.trainings)
        for seed in options.seeds
        for clauses in asked
        for method in options.methods
        if options.sentences is not None or method not in ("sentences", "both")
    ]
    done = list(records(options.out))
    left = [key for key in keys if not any(key.items() <= record.items() for record in done)]
    for _ in in_processes(options.workers, measure, ((key, whole, options) for key in left)):
        pass


def in_processes(workers: int, work: Callable[..., Any], tasks: Iterable[tuple[Any, ...]]) -> Iterator[Any]:
    """Do tasks at the same time, each result when it is there; a single worker is this process."""
    if workers == 1:
        yield from (work(*task) for task in tasks)
        return
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        for future in as_completed([pool.submit(work, *task) for task in tasks]):
            yield future.result()


def records(path: Path) -> Iterator[dict[str, Any]]:
    """Yield what was measured before."""
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else []:
        yield json.loads(line)


def embed(model: str, texts: Path, graph: Graph, out: Path) -> None:
    """Write the sentence embeddings of all texts."""
    import pyarrow as pa
    from pyarrow import parquet

    vectors = embedded(model, aligned(read_texts(texts, graph, print), graph))
    parquet.write_table(pa.table({"name": list(graph.entities), "vector": list(vectors)}), out)


def settings_of(
    method: str, options: argparse.Namespace, seed: int, chosen: Mapping[str, Mapping[str, Any]] | None = None
) -> Settings:
    """Return the settings of a method's training, with others in place of those of this file where they are given."""
    values: Values = {}
    for some in (SETTINGS, METHODS[method], chosen or {}):
        for section, given in some.items():
            values[section] = values.get(section, {}) | dict(given)
    values["train"] |= {"seed": seed, "device": options.device}
    values["train"] |= {} if options.passes is None else {"epochs": options.passes}
    if method in ("n-grams", "both"):
        values["descriptions"] |= {"text": str(options.texts)}
    if method in ("sentences", "both"):
        values["descriptions"] |= {"vectors": str(options.sentences)}
        values["descriptions"] |= {} if options.names is None else {"names": str(options.names)}
    return Settings.from_mapping(values)


def measure(key: dict[str, Any], whole: Graph, options: argparse.Namespace) -> None:
    """Train one model, rank test by it, and write the records."""
    print(key, flush=True)
    started = time.process_time()
    graph = whole.split_by_entities(seed=key["seed"])
    better = json.loads(options.settings.read_text(encoding="utf-8")) if options.settings else {}
    settings = settings_of(key["method"], options, key["seed"] + 100 * key["training"], better.get(key["method"]))
    rules = parse_clauses(CLAUSES) if key["clauses"] else ()
    made = by_facts if key["method"] == "facts" else by_descriptions
    found = made(graph, rules, settings, key["seed"])
    options.out.parent.mkdir(parents=True, exist_ok=True)
    about = {"settings": settings.model_dump(mode="json"), "machine": describe_machine()}
    for name in ("text", "vectors", "names"):  # no folders of this machine
        path = about["settings"]["descriptions"][name]
        about["settings"]["descriptions"][name] = None if path is None else Path(path).name
    with options.out.open("a", encoding="utf-8") as file:
        for record in found:
            cpu = {"cpu_seconds": round(time.process_time() - started, 1)}
            file.write(json.dumps(key | record | cpu | about) + "\n")
            file.flush()
            print(f"  {key} {record}", flush=True)


def by_descriptions(graph: Graph, rules: Sequence[Any], settings: Settings, seed: int) -> Iterator[dict[str, Any]]:
    """Rank all test facts, and those that folding in is measured on."""
    training = prepare(graph, rules, settings, observer=Progress())
    predictor = training.run(Progress()).eval().with_table()
    with training.choice.in_use():
        found = evaluate(predictor, graph, split="test")
    yield {"facts": "test"} | figures(found)
    places = {tuple(fact): place for place, fact in enumerate(graph.test.tolist())}
    for count in GIVEN:
        _, asked = given_and_asked(graph, count, seed)
        ranks = found.ranks.take(np.array([places[tuple(fact)] for fact in asked.tolist()]))
        yield {"facts": f"k = {count}", "all": chosen(metrics(ranks)["filtered"]["both"])}


def by_facts(graph: Graph, rules: Sequence[Any], settings: Settings, seed: int) -> Iterator[dict[str, Any]]:
    """Rank by a model that knows train alone: with no vector for an unseen entity, and with one by an update."""
    known = Graph.from_triples([_named(graph, fact) for fact in graph.train.tolist()], name="train")
    assert list(known.relations) == list(graph.relations)
    run = train(known, rules, settings, observer=Progress())

    def ranked(run: Run, asked: str | Facts) -> dict[str, Any]:
        vectors = torch.zeros(len(graph.entities), run.predictor.scorer.dim, device=run.predictor.device)
        vectors[torch.from_numpy(graph.entities.ids(run.graph.entities))] = run.predictor.encode_all().detach()
        return figures(evaluate(_with(run.predictor, vectors), graph, split=asked))

    yield {"facts": "test"} | ranked(run, "test")
    for how, more in HOW.items():
        for count in reversed(GIVEN):  # the shortest first
            given, asked = given_and_asked(graph, count, seed)
            told = [_named(graph, fact) for fact in given.tolist()]
            yield {"facts": f"k = {count}", "how": how} | ranked(run.update(told, **more), asked)


def _named(graph: Graph, fact: Sequence[int]) -> tuple[str, str, str]:
    subject, relation, object = fact
    return graph.entities[subject], graph.relations[relation], graph.entities[object]


def _with(trained: LinkPredictor, vectors: torch.Tensor) -> LinkPredictor:
    """Return a predictor with other vectors of entities, by the same relations."""
    made = type(trained)(
        FrozenTable(vectors),
        trained.scorer,
        num_entities=len(vectors),
        num_relations=trained.num_relations,
        domain=trained.domain,
    )
    made.relations = trained.relations
    return made.eval()


def given_and_asked(graph: Graph, count: int, seed: int) -> tuple[Facts, Facts]:
    """Deal the facts of unseen entities that have more than ``count`` with train: so many are given, the rest asked."""
    facts = graph.parts[UNSEEN_SEEN]
    in_train = np.zeros(len(graph.entities), np.bool_)
    in_train[graph.train[:, [0, 2]].ravel()] = True
    facts = facts[in_train[facts[:, [0, 2]]].sum(1) == 1]
    own = np.where(in_train[facts[:, 0]], facts[:, 2], facts[:, 0])
    order = np.random.default_rng(seed).permutation(len(facts))
    facts, own = facts[order], own[order]
    given: list[NDArray[np.int32]] = []
    asked: list[NDArray[np.int32]] = []
    for entity in np.unique(own).tolist():
        mine = facts[own == entity]
        if len(mine) > count:
            told, rest = mine[:count], mine[count:]
            pairs = {frozenset(pair) for pair in told[:, [0, 2]].tolist()}
            rest = rest[[frozenset(pair) not in pairs for pair in rest[:, [0, 2]].tolist()]]
            if len(rest):
                given.append(told)
                asked.append(rest)
    return np.concatenate(given), np.concatenate(asked)


def figures(found: Evaluation) -> dict[str, Any]:
    """Return the filtered metrics of facts, and of the parts of test."""
    return {"all": chosen(found.filtered["both"])} | {
        part: chosen(metrics(ranks)["filtered"]["both"]) for part, ranks in found.part_ranks.items()
    }


def chosen(one: Any) -> dict[str, Any]:
    """Return the metrics that the tables show."""
    return {name: round(one[name], 4) for name in ("mrr", "hits@1", "hits@3", "hits@10")} | {"count": one["count"]}
