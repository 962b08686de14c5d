"""The order of answers: the options of all commands that rank or score."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from clausal.choices import RankingName
from clausal.errors import InputError


class Entailed(StrEnum):
    """Where the facts go that train entails."""

    first = "first"


EntailedOption = Annotated[Entailed | None, typer.Option(help="'first' is the same as --ranking entailed.")]
RankingOption = Annotated[
    RankingName | None,
    typer.Option(
        help="By the model; 'entailed': what train entails by the run's clauses before all else; or, after "
        "'clausal fuse', by votes of rules alone or fused with the model.",
        show_default="model",
    ),
]

ConsistentOption = Annotated[
    bool,
    typer.Option(
        "--consistent",
        help="Make the ranking obey the clauses: every fact scores at least what they demand of it, and of facts that "
        "exclude each other the weaker is removed.",
    ),
]

RankingClausesOption = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="With --consistent or --ranking entailed, clauses instead of the run's."),
]


def check_used(clauses: str | None, ranking: RankingName, consistent: bool) -> None:
    """Refuse clauses that the order of answers does not depend on."""
    if clauses is not None and ranking != "entailed" and not consistent:
        raise InputError("--clauses says what train entails; add --ranking entailed, or --consistent")
