"""Clauses whose names the graph lacks: left out with a count, as an ontology always has some, or an error."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from clausal.cli.inputs import locate_clauses
from clausal.cli.output import say
from clausal.errors import InputError, count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clausal.graph import Graph
    from clausal.logic import Clause

_SHOWN = 3
LANGUAGE = ("clausal", "kale", "prolog")
"""The formats in which a name alone says whether it is a variable."""


class Unknown(StrEnum):
    """What happens to clauses that name what the graph does not have."""

    skip = "skip"
    error = "error"


UnknownOption = Annotated[
    Unknown | None,
    typer.Option(
        help="Clauses with names that the graph lacks are left out ('skip'), or refused ('error').",
        show_default="skip for ontologies, error for other files",
    ),
]


def fitting(source: str | None, clauses: list[Clause], graph: Graph, unknown: Unknown | None) -> list[Clause]:
    """Return the clauses that fit a graph, in its full names.

    What was left out is said, and which variables have an entity's name.
    """
    from clausal.logic.check import check_clauses
    from clausal.logic.formats import detect_format
    from clausal.logic.resolve import resolve_names
    from clausal.logic.unknown import fit_clauses

    if source is None or not clauses:
        return clauses
    clauses = resolve_names(clauses, graph)
    if detect_format(locate_clauses(source)) in LANGUAGE:
        say_entities_as_variables(clauses, graph)
    fit = fit_clauses(clauses, graph.entities, graph.relations)
    if not fit.left_out:
        return clauses
    if _mode(source, unknown) is Unknown.error:
        try:
            check_clauses(clauses, graph.entities, graph.relations)
        except InputError as error:
            hint = f"{count(len(fit.left_out), 'clause')} of {len(clauses):,}: --unknown skip leaves them out"
            raise InputError(f"{error}\n{hint}") from None
    unknown_names = (
        _names([graph.display.relation(name) for name in fit.relations[:_SHOWN]], len(fit.relations), "relation"),
        _names([graph.display.entity(name) for name in fit.constants[:_SHOWN]], len(fit.constants), "constant"),
    )
    names = ", ".join(filter(None, unknown_names))
    everything = "all of them: clausal clauses FILE --graph GRAPH --format json"
    if not fit.clauses:
        raise InputError(
            f"{source}: none of its {count(len(clauses), 'clause')} speaks of names that the graph has; unknown are "
            f"{names}; {everything}"
        )
    say(
        f"note: {len(fit.left_out):,} of {count(len(clauses), 'clause')} are left out, as the graph does not have "
        f"{names}; {everything}"
    )
    return fit.clauses


def widened_and_fitting(
    source: str, clauses: list[Clause], graph: Graph, unknown: Unknown | None
) -> tuple[Graph, list[Clause]]:
    """Return the graph with the names that a closure can add to it, and the clauses that fit that."""
    from clausal.logic.resolve import resolve_names
    from clausal.logic.unknown import widened

    clauses = resolve_names(clauses, graph)
    wide = widened(graph, clauses)
    new = wide.relations[len(graph.relations) :]
    if new and _mode(source, unknown) is Unknown.error:
        _refuse_misspelt(clauses, graph, new)
    if new:
        shown = ", ".join(wide.display.relation(name) for name in new[:_SHOWN])
        more = f" and {len(new) - _SHOWN:,} more" if len(new) > _SHOWN else ""
        say(f"note: the clauses can derive {count(len(new), 'relation')} that the graph does not have: {shown}{more}")
    return wide, fitting(source, clauses, wide, unknown)


def _mode(source: str, unknown: Unknown | None) -> Unknown:
    """Return what was asked for; by default an ontology may name what the graph lacks, and no other file."""
    from clausal.logic.formats import detect_format

    return unknown or (Unknown.skip if detect_format(locate_clauses(source)) == "owl" else Unknown.error)


def _refuse_misspelt(clauses: list[Clause], graph: Graph, new: Sequence[str]) -> None:
    """Refuse new relations that differ in a letter from known ones: they are probably meant to be those."""
    from clausal.graph.near_names import is_slip
    from clausal.logic.check import describe_problem, find_problems

    slips = {name for name in new if any(is_slip(name, known) for known in graph.relations)}
    if slips:
        problems = find_problems(clauses, graph.entities, graph.relations)
        lines = [
            describe_problem(problem, graph.entities, graph.relations)
            for problem in problems
            if problem.kind == "relation" and problem.name in slips
        ]
        raise InputError("\n".join([*lines, "if it is a new relation, --unknown skip lets the closure derive it"]))


def say_entities_as_variables(clauses: Sequence[Clause], graph: Graph) -> None:
    """Say which variables are called like an entity, and how to mean the entity."""
    from clausal.logic.lines import place
    from clausal.logic.unknown import entities_as_variables

    found = entities_as_variables(clauses, graph.entities)
    words = {name: clause for name, clause in found.items() if len(name) > 1}
    for name, clause in list(words.items())[:_SHOWN]:
        where = place(clause.source, clause.line, None) or f"in '{clause}'"
        say(f"note: {where}: {name} is a variable here, and an entity of the graph; to mean the entity, write '{name}'")
    if len(words) > _SHOWN:
        say(f"note: {len(words) - _SHOWN:,} more variables have the name of an entity")
    letters = sorted(found.keys() - words)
    if letters:
        are = "is a variable" if len(letters) == 1 else "are variables"
        say(f"note: {', '.join(letters)} {are}, and an entity of the graph; to mean the entity, write '{letters[0]}'")


def _names(shown: Sequence[str], number: int, kind: str) -> str:
    more = ", …" if number > len(shown) else ""
    return f"{count(number, kind)} ({', '.join(shown)}{more})" if shown else ""
