"""How commands look and begin: flags without a type in the help, and a working directory that is there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from typer.core import TyperCommand, TyperGroup

from clausal.errors import InputError, shortened


def _without_types(params: list[Any]) -> list[Any]:
    for param in params:
        if getattr(param, "is_flag", False):
            param.metavar = ""  # typer shows '--resume <bool>' otherwise, as if it took a value
    return params


@contextmanager
def _short_messages() -> Iterator[None]:
    """Shorten what a wrong argument is answered with, as it repeats the argument."""
    try:
        yield
    except Exception as error:
        if isinstance(getattr(error, "message", None), str):
            error.message = shortened(error.message.replace("Value error, ", ""))  # type: ignore[attr-defined]
        raise


class Command(TyperCommand):
    """A command whose flags are shown without a type."""

    def get_params(self, ctx: Any) -> list[Any]:
        return _without_types(super().get_params(ctx))

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        with _short_messages():
            return super().parse_args(ctx, args)


class Group(TyperGroup):
    """The commands together; none runs where the working directory has been deleted, which torch would abort at."""

    def get_params(self, ctx: Any) -> list[Any]:
        return _without_types(super().get_params(ctx))

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        with _short_messages():
            return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        try:
            Path.cwd()
        except FileNotFoundError:
            raise InputError("the working directory has been deleted; change to one that is there") from None
        with _short_messages():  # of a command that is not there
            return super().invoke(ctx)
