"""A graph that has changed: facts added, with their new entities, and facts withdrawn; known ids stay as they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clausal.errors import InputError, count
from clausal.graph.facts import Facts, distinct_facts, fact_keys, found_in, no_facts
from clausal.graph.graph import Graph
from clausal.graph.vocabulary import Names

_SHOWN = 3


@dataclass(frozen=True, eq=False)
class Change:
    """The graph after a change, and what changed, in its ids.

    New entities have the last ids. ``added`` are the facts that train did not have. ``notes`` are sentences a user
    should read.
    """

    graph: Graph
    new_entities: int
    added: Facts
    withdrawn: Facts
    notes: tuple[str, ...]

    @property
    def about_new(self) -> NDArray[np.bool_]:
        """Whether each added fact is about a new entity. Shape [added]."""
        known = len(self.graph.entities) - self.new_entities
        return np.asarray((self.added[:, [0, 2]] >= known).any(axis=1))


def change_graph(graph: Graph, added: Graph | None, withdrawn: Graph | None) -> Change:
    """Add the facts of one graph to the train facts of another, and take those of a third out of all its splits.

    Relations must be known. A fact of valid or test that is added is in train from then on, and nowhere else.
    """
    for given, what in ((added, "new facts"), (withdrawn, "facts to withdraw")):
        if given is not None and (len(given.valid) or len(given.test)):
            raise InputError(f"{given.name}: {what} come as one set of facts, not with splits of their own")
    if added is not None:
        _require_relations(graph, added)
    entities, fresh = _grown(graph, added)
    sizes = len(entities), len(graph.relations)
    rows = no_facts() if added is None else _translated(added, entities, graph.relations)
    out = no_facts() if withdrawn is None else _withdrawn(graph, withdrawn, entities)
    keys, out_keys = fact_keys(rows, *sizes), np.sort(fact_keys(out, *sizes))
    both = found_in(keys, out_keys)
    if both.any():
        shown = _name(rows[int(both.argmax())], entities, graph.relations)
        raise InputError(f"{shown} is both added and withdrawn; take it out of one of the two files")
    known = found_in(keys, np.sort(fact_keys(graph.train, *sizes)))
    rows, again = rows[~known], int(known.sum())
    new_keys = np.sort(fact_keys(rows, *sizes))

    def without(facts: Facts, *gone: NDArray[np.int64]) -> Facts:
        left = np.ones(len(facts), np.bool_)
        for some in gone:
            left &= ~found_in(fact_keys(facts, *sizes), some)
        return facts[left]

    changed = replace(
        graph,
        entities=entities,
        train=np.concatenate([without(graph.train, out_keys), rows]),
        valid=without(graph.valid, out_keys, new_keys),
        test=without(graph.test, out_keys, new_keys),
        parts={part: without(facts, out_keys, new_keys) for part, facts in graph.parts.items()},
        prefixes={**(added.prefixes if added is not None else {}), **graph.prefixes},
        literals=_joined_literals(graph.literals, None if added is None else added.literals),
        duplicates={},
        notes=(),
    )
    if not len(changed.train):
        raise InputError("every train fact would be withdrawn; a run without facts knows nothing")
    notes = _notes(graph, changed, again, out)
    return Change(changed, fresh, rows, out, tuple(notes))


def _require_relations(graph: Graph, added: Graph) -> None:
    unknown = [name for name in added.relations if name not in graph.relations]
    if unknown:
        ids = added.relations.ids(unknown)
        facts = int(np.isin(added.train[:, 1], ids).sum())
        more = f" and {len(unknown) - 1:,} more" if len(unknown) > 1 else ""
        raise InputError(
            f"{added.name}: unknown relation '{unknown[0]}'{more}, in {count(facts, 'fact')}"
            f"{graph.relations.suggestion(unknown[0])}; an update learns no relations: to train on a graph that has "
            "new ones, starting from this run: clausal train GRAPH --from RUN"
        )


def _grown(graph: Graph, added: Graph | None) -> tuple[Names, int]:
    """Return the names of the entities with the new ones at the end, and how many these are."""
    fresh = [] if added is None else [name for name in added.entities if name not in graph.entities]
    return (Names([*graph.entities, *fresh], "entity"), len(fresh)) if fresh else (graph.entities, 0)


def _translated(facts: Graph, entities: Names, relations: Names) -> Facts:
    """Return the train facts of a graph in the ids of other names, −1 for those that are not there."""
    own, labels = entities.ids(facts.entities), relations.ids(facts.relations)
    columns = own[facts.train[:, 0]], labels[facts.train[:, 1]], own[facts.train[:, 2]]
    return distinct_facts(np.stack(columns, 1).astype(np.int32), len(entities), len(relations))[0]


def _withdrawn(graph: Graph, withdrawn: Graph, entities: Names) -> Facts:
    """Return the facts to withdraw; each must be a fact of the graph."""
    own, labels = graph.entities.ids(withdrawn.entities), graph.relations.ids(withdrawn.relations)
    rows = np.stack([own[withdrawn.train[:, 0]], labels[withdrawn.train[:, 1]], own[withdrawn.train[:, 2]]], 1)
    sizes = len(entities), len(graph.relations)
    outside = np.asarray((rows < 0).any(axis=1))
    outside[~outside] = ~found_in(fact_keys(rows[~outside], *sizes), np.sort(fact_keys(graph.known, *sizes)))
    if outside.any():
        names = withdrawn.train[int(outside.argmax())]
        more = int(outside.sum()) - 1
        raise InputError(
            f"{withdrawn.name}: {_name(names, withdrawn.entities, withdrawn.relations)}"
            f"{f' and {more:,} more' if more else ''} cannot be withdrawn: the graph does not have "
            f"{'them' if more else 'it'}"
        )
    return distinct_facts(rows.astype(np.int32), *sizes)[0]


def _joined_literals(own: Any, added: Any) -> Any:
    import pyarrow as pa

    tables = [table for table in (own, added) if table is not None and len(table)]
    if not tables:
        return None
    columns = tables[0].column_names
    texts = [pa.table({name: table[name].cast(pa.string()) for name in columns}) for table in tables]
    return pa.concat_tables(texts) if len(texts) > 1 else tables[0]


def _notes(before: Graph, after: Graph, again: int, withdrawn: Facts) -> Sequence[str]:
    notes = []
    if again:
        notes.append(f"{count(again, 'fact')} of the new ones {'is' if again == 1 else 'are'} in train already")
    for split in ("valid", "test"):
        moved = len(before.splits[split]) - len(after.splits[split])
        if moved:
            notes.append(f"{count(moved, f'fact of {split}', f'facts of {split}')} moved to train, or withdrawn")
    touched = np.unique(withdrawn[:, [0, 2]])
    alone = touched[~np.isin(touched, after.known[:, [0, 2]])]
    if len(alone):
        shown = ", ".join(f"'{after.entities[one]}'" for one in alone[:_SHOWN].tolist())
        shown += ", …" * (len(alone) > _SHOWN)
        notes.append(
            f"{count(len(alone), 'entity has', 'entities have')} no facts left ({shown}): "
            "names and vectors stay, so that they can still be answers; train anew to forget them"
        )
    return notes


def _name(fact: NDArray[np.integer], entities: Names, relations: Names) -> str:
    subject, relation, object = fact.tolist()
    return f"'{relations[relation]}({entities[subject]}, {entities[object]})'"
