"""How commands look and stop: flags without a type in the help, and Ctrl-C as one message."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand, TyperGroup

from clausal.errors import ClausalError


class InterruptedByUserError(ClausalError):
    """Ctrl-C."""

    exit_code = 130


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
    """The commands together; an interrupt reaches ``main`` as an error with its own exit code."""

    def get_params(self, ctx: Any) -> list[Any]:
        return _without_types(super().get_params(ctx))

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise InterruptedByUserError("interrupted; an unfinished training can go on with --resume") from None
