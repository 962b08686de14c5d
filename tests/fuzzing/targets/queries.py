"""Questions, facts and names that a user types, asked of a run in every way."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from clausal.graph.query import parse_fact
from clausal.logic import Prover
from fuzzing.base_runs import loaded
from fuzzing.cases import Case
from fuzzing.damage import changed, changes, long_text, odd_text
from fuzzing.targets import Target

KINDS = ("finished", "described")
_entities = st.sampled_from(
    ["person 01", "'person 02'", '"person 03"', "Person 01", "Madrid", "http://e/Spain", ":Spain", "?", "??"]
)
_entities |= (
    st.sampled_from(["x?", '"a city by a river"', "person", "", " ", "'", '"', "España"]) | odd_text | long_text
)
_relations = (
    st.sampled_from(["manages", "works_with", "http://e/in", "in", ":in", "?", "managed", "Manages", "", "'manages'"])
    | odd_text
)
_questions = st.builds("{}({}, {})".format, _relations, _entities, _entities) | odd_text | long_text
_tuples = st.lists(st.none() | _entities, min_size=1, max_size=4)
_ks = st.sampled_from([1, 3, 10, 0, -1, 10**9])
_rankings = st.sampled_from(["model", "entailed", "rules", "fused", "x"])


@st.composite
def _cases(draw: st.DrawFn) -> Case:
    way = draw(st.sampled_from(["predict", "predict", "several", "tuple", "prove", "score", "nearest", "describe"]))
    text = draw(_questions)
    if draw(st.booleans()) and len(text) < 500:
        text = changed(text.encode(), draw(changes)).decode("utf-8", "replace")
    asked: Any = text
    if way in ("tuple", "score"):
        asked = draw(_tuples)
    elif way in ("nearest", "describe"):
        asked = draw(_entities)
    options = {"k": draw(_ks)} | draw(
        st.fixed_dictionaries({}, optional={"ranking": _rankings, "consistent": st.booleans()})
    )
    return Case({}, {"run": draw(st.sampled_from(KINDS)), "way": way, "asked": asked, **options})


def run(case: Case, folder: Path) -> None:
    """Ask a run."""
    options = dict(case.options)
    run, way, asked, k = loaded(options.pop("run")), options.pop("way"), options.pop("asked"), options.pop("k")
    match way:
        case "predict":
            run.predict(asked, k, **options)
        case "several":
            run.predict([asked, f"{run.graph.relations[0]}({run.graph.entities[0]}, ?)"], k, **options)
        case "tuple":
            run.predict(tuple(asked), k, **options)
        case "prove":
            fact = parse_fact(asked, run.graph)
            Prover(run.graph, run.clauses, run.closure).prove(fact)
        case "score":
            run.score([asked], unknown="skip" if k == 1 else "refuse", **options)
        case "nearest":
            run.nearest(asked, k)
        case "describe":
            run.describe({asked: asked}).predict((asked, run.graph.relations[0], None), k)


def prepare() -> None:
    """Train the runs, and ask once in each way."""
    for kind in KINDS:
        graph = loaded(kind).graph
        question = f"{graph.relations[0]}({graph.entities[0]}, ?)"
        for ranking in ("model", "entailed"):
            loaded(kind).predict(question, ranking=ranking)
            loaded(kind).predict(question, ranking=ranking, consistent=True)


TARGET = Target(_cases(), run, slice=450, prepare=prepare)
