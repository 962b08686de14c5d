"""Names in clauses that nobody writes whole: short forms and labels become the graph's own names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from clausal.errors import InputError
from clausal.graph.graph import Graph
from clausal.graph.prefixes import is_iri
from clausal.graph.query import find_name
from clausal.graph.vocabulary import Names
from clausal.logic.lines import place
from clausal.logic.syntax import Atom, Clause, Constant, Term, map_leaves


def resolve_names(clauses: Sequence[Clause], graph: Graph) -> list[Clause]:
    """Return clauses with the full names of a graph: ``feeds`` and ``brick:feeds`` become the IRI that they mean.

    A name that means several is an error that lists them. One that means none is left as it is.
    """
    atoms = [(clause, atom) for clause in clauses for atom in clause.atoms]
    relations = _meanings(((clause, atom.relation) for clause, atom in atoms), graph.relations, graph)
    constants = ((clause, term.name) for clause, atom in atoms for term in atom.terms if isinstance(term, Constant))
    entities = _meanings(constants, graph.entities, graph)
    if not relations and not entities:
        return list(clauses)

    def term(one: Term) -> Term:
        return replace(one, name=entities.get(one.name, one.name)) if isinstance(one, Constant) else one

    def atom(one: Atom) -> Atom:
        name = relations.get(one.relation, one.relation)
        return replace(one, relation=name, subject=term(one.subject), object=term(one.object))

    return [replace(clause, formula=map_leaves(clause.formula, atom)) for clause in clauses]


def _meanings(used: Iterable[tuple[Clause, str]], names: Names, graph: Graph) -> dict[str, str]:
    """Return what the names that are no full ones mean."""
    unknown: dict[str, Clause] = {}
    for clause, name in used:
        if name not in names:
            unknown.setdefault(name, clause)
    meant = {}
    for name, clause in unknown.items():
        if is_iri(name) or not graph.display.find(name, names):
            continue
        try:
            meant[name] = find_name(name, names, graph)
        except InputError as error:
            where = place(clause.source, clause.line, None) or f"in '{clause}'"
            raise InputError(f"{where}: {error}") from None
    return meant
