"""What is around an entity: known facts, those that follow, and those that a run predicts, as a picture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from clausal.drawing import Edge, draw_network, join, notebook, tag
from clausal.graph.display import DisplayNames
from clausal.graph.html import around
from clausal.graph.query import find_name, name_fact
from clausal.run.answers import Answers
from clausal.run.html import answers_html

if TYPE_CHECKING:
    from clausal.choices import RankingName
    from clausal.run.run import Run

_QUESTIONS = 16


@dataclass(frozen=True, eq=False)
class EntityView:
    """An entity with facts around it, each known, entailed or predicted, and the best new facts about it."""

    entity: str
    edges: list[Edge]
    predicted: Answers
    names: DisplayNames

    def __repr__(self) -> str:
        counts = {kind: sum(edge.kind == kind for edge in self.edges) for kind in ("known", "entailed", "predicted")}
        found = ", ".join(f"{number:,} {kind}" for kind, number in counts.items() if number)
        return f"<EntityView of {self.names.entity(self.entity)}: {found or 'no'} facts>"

    def to_html(self) -> str:
        """Return the picture and the table as HTML, without styles."""
        shown = self.names.entity(self.entity)
        picture = draw_network(
            self.edges,
            title=f"around {shown}",
            centre=self.entity,
            entity=self.names.entity,
            relation=self.names.relation,
        )
        table = answers_html(self.predicted, self.names)
        return join(
            [picture, tag("h3", f"new facts about {shown}, the most likely first"), table] if table else [picture]
        )

    def _repr_html_(self) -> str:
        return notebook(self.to_html())


def view_entity(run: Run, entity: str, nodes: int = 30, k: int = 10) -> EntityView:
    """Gather what is around an entity: its facts, those that follow by the run's clauses, and the best new ones."""
    name = find_name(entity, run.graph.entities, run.graph)
    edges = around(run.graph, name, nodes=nodes)
    edges += _entailed(run, name, nodes)
    predicted = new_facts(run, name, k)
    edges += [Edge(one.subject, one.relation, one.object, "predicted") for one in predicted[: max(3, nodes // 5)]]
    known = {edge[:3] for edge in edges if edge.kind != "predicted"}
    edges = [edge for edge in edges if edge.kind != "predicted" or edge[:3] not in known]
    return EntityView(name, edges, predicted, run.graph.display)


def _entailed(run: Run, name: str, most: int) -> list[Edge]:
    if not run.clauses:
        return []
    own, derived = run.graph.entities.id(name), run.closure.derived
    facts = derived[(derived[:, 0] == own) | (derived[:, 2] == own)][:most]
    return [Edge(*name_fact(run.graph, row), "entailed") for row in facts]


def new_facts(run: Run, name: str, k: int) -> Answers:
    """Return the best facts about an entity that the graph lacks, of the relations that it has in train.

    Where there are probabilities these order the facts, as scores of different relations cannot be compared.
    """
    own, train = run.graph.entities.id(name), run.graph.train
    questions: list[tuple[str | None, str | None, str | None]] = []
    for place in (0, 2):
        relations, counts = np.unique(train[train[:, place] == own, 1], return_counts=True)
        for relation in relations[np.argsort(-counts, kind="stable")][:_QUESTIONS].tolist():
            asked = run.graph.relations[relation]
            questions.append((name, asked, None) if place == 0 else (None, asked, name))
    ranking: RankingName = "entailed" if run.clauses else "model"  # which says what follows by clauses
    found = {
        tuple(one[1:4]): one for answers in run.predict(questions, k, new=True, ranking=ranking) for one in answers
    }
    best = sorted(found.values(), key=lambda one: (-(one.probability or 0.0), -one.score))[:k]
    return Answers((one._replace(rank=rank) for rank, one in enumerate(best, 1)), run.graph.display)
