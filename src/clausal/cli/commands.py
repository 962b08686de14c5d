"""How commands look and begin: flags without a type in the help, and a working directory that is there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from typer.core import TyperCommand, TyperGroup

from clausal.errors import InputError


def _without_types(params: list[Any]) -> list[Any]:
    for param in params:
        if getattr(param, "is_flag", False):
            param.metavar = ""  # typer shows '--resume <bool>' otherwise, as if it took a value
    return params


class Command(TyperCommand):
    """A command whose flags are shown without a type."""

    def get_params(self, ctx: Any) -> list[Any]:
        return _without_types(super().get_params(ctx))


class Group(TyperGroup):
    """The commands together; none runs where the working directory has been deleted, which torch would abort at."""

    def get_params(self, ctx: Any) -> list[Any]:
        return _without_types(super().get_params(ctx))

    def invoke(self, ctx: Any) -> Any:
        try:
            Path.cwd()
        except FileNotFoundError:
            raise InputError("the working directory has been deleted; change to one that is there") from None
        return super().invoke(ctx)
