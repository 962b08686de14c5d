"""The graphs of the zoo: made at random with a fixed seed, or cut from graphs that are on this machine.

Each is lists of named facts by split. ``write`` lays them down as a folder of text files, as a user would have them.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np

import clausal
from clausal.errors import ClausalError

Triple = tuple[str, str, str]
Splits = dict[str, list[Triple]]


def split(facts: Sequence[Triple], *, valid: float = 0.1, test: float = 0.1, seed: int = 0) -> Splits:
    """Split distinct facts at random."""
    distinct = list(dict.fromkeys(facts))
    order = np.random.default_rng(seed).permutation(len(distinct))
    first, second = round(len(order) * (1 - valid - test)), round(len(order) * (1 - test))
    parts = {"train": order[:first], "valid": order[first:second], "test": order[second:]}
    return {name: [distinct[place] for place in places] for name, places in parts.items() if len(places)}


def write(splits: Splits, folder: Path) -> Path:
    """Write each split as a file of tab-separated names."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, facts in splits.items():
        text = "".join("\t".join(fact) + "\n" for fact in facts)
        (folder / f"{name}.txt").write_text(text, encoding="utf-8")
    return folder


def family() -> Splits:
    """Tiny: some 200 facts about four generations, with inverses, a symmetric relation and a composition."""
    random = np.random.default_rng(1)
    facts: list[Triple] = []
    couples = [(f"p{i}", f"q{i}") for i in range(4)]
    for generation in range(3):
        children = []
        for couple in couples:
            born = [f"c{generation}.{len(children) + i}" for i in range(2)]
            children += born
            facts += [(parent, "parent_of", child) for parent in couple for child in born]
            facts += [(child, "child_of", parent) for parent in couple for child in born]
            facts += [(couple[0], "married_to", couple[1]), (couple[1], "married_to", couple[0])]
            facts += [(born[0], "sibling_of", born[1]), (born[1], "sibling_of", born[0])]
        mixed = [children[i] for i in random.permutation(len(children))]
        couples = list(zip(mixed[::2], mixed[1::2], strict=True))
    return split(facts, seed=1)


def dense() -> Splits:
    """Few entities and a third of all possible facts: groups of entities like or dislike each other."""
    random = np.random.default_rng(2)
    group = random.integers(5, size=50)
    chance = random.choice([0.03, 0.85], p=[0.6, 0.4], size=(4, 5, 5))
    facts = [
        (f"e{s}", f"r{r}", f"e{o}")
        for r in range(4)
        for s in range(50)
        for o in range(50)
        if s != o and random.random() < chance[r, group[s], group[o]]
    ]
    return split(facts, seed=2)


def skewed() -> Splits:
    """A few entities are in most facts: users with a taste choose items by fame."""
    random = np.random.default_rng(3)
    fame = 1 / np.arange(1, 401) ** 1.1
    genre = random.integers(8, size=400)
    facts: list[Triple] = [(f"item{i}", "of_genre", f"genre{genre[i]}") for i in range(400)]
    for user in range(600):
        taste = fame * np.where(np.isin(genre, random.integers(8, size=2)), 1.0, 0.05)
        chosen = random.choice(400, size=int(random.integers(3, 20)), p=taste / taste.sum())
        facts += [(f"user{user}", "bought", f"item{item}") for item in chosen]
        facts += [(f"user{user}", "liked", f"item{item}") for item in chosen if random.random() < 0.4]
    return split(facts, seed=3)


def many_relations() -> Splits:
    """1,000 relations of a few facts each, noisy copies of twenty."""
    random = np.random.default_rng(4)
    base = random.integers(300, size=(20, 40, 2))
    facts: list[Triple] = []
    for relation in range(1000):
        pairs = base[relation % 20][random.choice(40, 10, replace=False)]
        facts += [(f"e{s}", f"rel{relation}", f"e{o}") for s, o in pairs]
    return split(facts, seed=4)


def one_relation() -> Splits:
    """One transitive relation: a tree of classes with all that follows."""
    random = np.random.default_rng(5)
    parent = [0] + [int(random.integers(max(1, i // 4), i)) if i > 1 else 0 for i in range(1, 500)]
    facts: list[Triple] = []
    for child in range(1, 500):
        above = child
        while above:
            above = parent[above]
            facts.append((f"class{child}", "is_a", f"class{above}"))
    return split(facts, seed=5)


def symmetric() -> Splits:
    """One symmetric relation in communities; often only one direction is in train."""
    random = np.random.default_rng(6)
    community = random.integers(20, size=400)
    facts: list[Triple] = []
    for one in range(400):
        for other in range(one):
            if random.random() < (0.3 if community[one] == community[other] else 0.002):
                facts += [(f"n{one}", "knows", f"n{other}"), (f"n{other}", "knows", f"n{one}")]
    return split(facts, seed=6)


def noise() -> Splits:
    """Nothing to learn: facts at random."""
    random = np.random.default_rng(7)
    facts = [
        (f"e{s}", f"r{r}", f"e{o}")
        for s, r, o in zip(
            random.integers(200, size=2000), random.integers(5, size=2000), random.integers(200, size=2000), strict=True
        )
    ]
    return split(facts, seed=7)


def identifiers() -> Splits:
    """Records as a table has them: each with its own number, which nobody can predict, a type, and links by type."""
    random = np.random.default_rng(8)
    kind = random.integers(5, size=400)
    facts: list[Triple] = [(f"record{i}", "has_number", f"{10_000 + i}") for i in range(400)]
    facts += [(f"record{i}", "of_type", f"type{kind[i]}") for i in range(400)]
    for one in range(400):
        others = np.flatnonzero(kind == (kind[one] + 1) % 5)
        facts += [(f"record{one}", "refers_to", f"record{other}") for other in random.choice(others, 3, replace=False)]
    return split(facts, seed=8)


def world() -> Splits:
    """The graph of the demo."""
    return _named(clausal.load_graph(Path(clausal.__file__).parent / "data" / "world"))


def world_without_valid() -> Splits:
    """The graph of the demo without valid facts."""
    return {name: facts for name, facts in world().items() if name != "valid"}


def world_with_inverses() -> Splits:
    """The graph of the demo with a relation for the other direction of each, in the same split."""
    return {name: facts + [(o, f"inverse_{r}", s) for s, r, o in facts] for name, facts in world().items()}


def subsample(name: str, entities: int) -> Splits:
    """Return the part of a data set among its busiest entities."""
    graph = clausal.load_graph(name)
    degree = np.bincount(graph.train[:, [0, 2]].ravel(), minlength=len(graph.entities))
    chosen = np.zeros(len(degree), bool)
    chosen[np.argsort(-degree, kind="stable")[:entities]] = True
    return {
        split: [
            triple
            for triple, inside in zip(_names(graph, facts), chosen[facts[:, [0, 2]]].all(1), strict=True)
            if inside
        ]
        for split, facts in graph.splits.items()
    }


def of_pykeen(name: str) -> Splits:
    """Return a small graph that comes inside the package pykeen."""
    package = importlib.util.find_spec("pykeen")
    if package is None or package.origin is None:
        raise ClausalError("pykeen is not installed")
    return _named(clausal.load_graph(Path(package.origin).parent / "datasets" / name))


def _named(graph: clausal.Graph) -> Splits:
    return {name: _names(graph, facts) for name, facts in graph.splits.items() if len(facts)}


def _names(graph: clausal.Graph, facts: np.ndarray) -> list[Triple]:
    return [(graph.entities[s], graph.relations[r], graph.entities[o]) for s, r, o in facts.tolist()]


ZOO: dict[str, Callable[[], Splits]] = {
    "family (tiny)": family,
    "dense": dense,
    "skewed": skewed,
    "many relations": many_relations,
    "one relation": one_relation,
    "symmetric": symmetric,
    "noise": noise,
    "identifiers": identifiers,
    "world": world,
    "world, no valid": world_without_valid,
    "world, inverses": world_with_inverses,
    "UMLS": lambda: of_pykeen("umls"),
    "Kinship": lambda: of_pykeen("kinships"),
    "Nations": lambda: of_pykeen("nations"),
    "FB122, 1,000 entities": lambda: subsample("fb122", 1000),
    "WN18RR, 2,000 entities": lambda: subsample("wn18rr", 2000),
}


def available() -> dict[str, Splits]:
    """Return the graphs that can be had on this machine: data sets need CLAUSAL_DATA, and three need pykeen."""
    found = {}
    for name, make in ZOO.items():
        if "entities" in name and "CLAUSAL_DATA" not in os.environ:
            continue
        with suppress(ClausalError):
            found[name] = make()
    return found
