"""The encoder of names in the docs is trained end to end: on facts and clauses of the demo, from letters alone."""

from __future__ import annotations

import re
from pathlib import Path

import torch

from clausal.demo import world
from clausal.graph import Graph
from clausal.observer import Calling
from clausal.training import prepare

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "own-model.md"


def test_names_are_learned_to_be_read():
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    (block,) = [block for block in blocks if "class ReadsNames" in block]
    names: dict[str, object] = {}
    exec(block, names)  # what the page shows is what is tested
    whole, clauses = world()
    entities, relations = whole.entities, whole.relations
    facts = [(entities[int(s)], relations[int(r)], entities[int(o)]) for s, r, o in whole.train]
    graph = Graph.from_triples(facts[:400] + facts[-400:])
    clauses = [clause for clause in clauses if all(atom.relation in graph.relations for atom in clause.atoms)]
    assert clauses
    losses = []
    torch.manual_seed(0)
    encoder = names["ReadsNames"](list(graph.entities), dim=16)
    before = {name: value.clone() for name, value in encoder.state_dict().items() if value.is_floating_point()}
    settings = names["clausal"].Settings.from_mapping(
        {
            "model": {"dim": 16, "domain": "sphere"},
            "facts": {"batches": 4},
            "train": {"epochs": 2, "passes": 4, "optimizer": "adam", "learning_rate": 0.01, "device": "cpu"},
            "evaluate": {"every": 0},
        }
    )
    training = prepare(graph, clauses, settings, encoder=encoder)
    predictor = training.run(Calling(passed=lambda report: losses.append((report.fact_loss, report.inconsistency))))
    assert losses[-1][0] < 0.9 * losses[0][0]
    assert losses[0][1] > 0
    after = predictor.encoder.state_dict()
    assert all(not torch.equal(value, after[name]) for name, value in before.items())
