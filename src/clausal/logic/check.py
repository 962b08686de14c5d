"""Clauses against a vocabulary: every relation and constant is known, and every head variable is bound."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from clausal.errors import InputError
from clausal.logic.lines import place
from clausal.logic.shape import horn_parts
from clausal.logic.syntax import Atom, Clause, Constant, Variable

if TYPE_CHECKING:
    from clausal.graph.vocabulary import Names

_SHOWN = 10


@dataclass(frozen=True)
class Problem:
    """What does not fit a vocabulary: an unknown ``relation`` or ``constant``, or an unbound ``variable``.

    ``clause`` and ``column`` are the first place, ``times`` how often the name occurs.
    """

    kind: str
    name: str
    clause: Clause
    column: int | None
    times: int = 1


def check_clauses(clauses: Iterable[Clause], entities: Names, relations: Names) -> None:
    """Raise one ``InputError`` that names what in these clauses does not fit this vocabulary.

    An unknown relation, an unknown constant, and a variable in the head of a Horn clause that its body lacks
    are reported at the first place, with the nearest known name; the first 10 are shown.
    """
    problems = find_problems(clauses, entities, relations)
    if not problems:
        return
    # Suggestions compare many names, so only those shown are looked for.
    lines = [describe_problem(problem, entities, relations) for problem in problems[:_SHOWN]]
    if len(problems) > _SHOWN:
        lines.append(f"and {len(problems) - _SHOWN} more")
    raise InputError("\n".join(lines))


def find_problems(clauses: Iterable[Clause], entities: Names, relations: Names) -> list[Problem]:
    """Return what in these clauses does not fit; one misspelt name is one problem, however often it occurs."""
    problems = [problem for clause in clauses for problem in _problems(clause, entities, relations)]
    times = Counter(_key(problem) for problem in problems)
    first = {_key(problem): problem for problem in reversed(problems)}
    return [replace(first[key], times=count) for key, count in times.items()]


def _problems(clause: Clause, entities: Names, relations: Names) -> Iterator[Problem]:
    for atom in clause.atoms:
        if atom.relation not in relations:
            yield Problem("relation", atom.relation, clause, atom.column)
        for term in atom.terms:
            if isinstance(term, Constant) and term.name not in entities:
                yield Problem("constant", term.name, clause, term.column)
    for variable in _unbound(clause):
        yield Problem("variable", variable.name, clause, variable.column)


def _unbound(clause: Clause) -> Iterator[Variable]:
    parts = horn_parts(clause)
    if parts is None:
        return
    body, head = parts
    if not body or not isinstance(head, Atom):
        return
    bound = {term for atom in body for term in atom.terms}
    for term in dict.fromkeys(head.terms):
        if isinstance(term, Variable) and term not in bound:
            yield term


def _key(problem: Problem) -> tuple[object, ...]:
    own = (id(problem.clause),) if problem.kind == "variable" else ()
    return problem.kind, problem.name, *own


def describe_problem(problem: Problem, entities: Names, relations: Names) -> str:
    """Say where the problem is and what to do, with the nearest known name."""
    name, clause, times = problem.name, problem.clause, problem.times
    where = place(clause.source, clause.line, problem.column) or f"in '{clause}'"
    also = f" ({times} times)" if times > 1 else ""
    if problem.kind == "relation":
        hint = relations.suggestion(name) or f"; it is none of the graph's {len(relations):,} relations"
        return f"{where}: unknown relation '{name}'{also}{hint}"
    if problem.kind == "constant":
        from clausal.graph.prefixes import is_iri  # a graph needs numpy, which clauses alone do not

        plain = "" if is_iri(name) else "; a variable starts with an upper-case letter or '?'"
        hint = entities.suggestion(name) or plain
        return f"{where}: unknown constant '{name}'{also}{hint}"
    hint = "quote it to mean the entity" if name in entities else "add an atom with it to the body"
    return f"{where}: the head's variable '{name}' is not in the body; {hint}"
