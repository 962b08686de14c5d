"""The registry of fast forms, and the one choice that everything asks which form to use.

A reference is the plain, readable way to do a thing. A fast form gives the same results sooner, for some models or some
machines. Code that has one asks ``fastest(reference, *arguments)`` and calls what it gets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from typing import Any, Literal, TypeVar

_Reference = TypeVar("_Reference", bound=Callable[..., Any])


@dataclass(frozen=True)
class FastForm:
    """A fast form: what it stands for, what it is and when it applies.

    ``reference`` and ``form`` are functions or classes that are called with the same arguments and return the same.
    They are named as ``module:name``, so that nothing is imported before it is used. ``why_not`` is called with those
    arguments too, and says why the form does not apply to them, or None where it does.
    """

    name: str
    reference: str
    form: str | Callable[..., Any]
    why_not: Callable[..., str | None]
    loads_kernels: bool = False
    """Whether it loads the CPU's compiled kernels, which takes a while."""

    def load(self) -> Callable[..., Any]:
        """Return the form itself."""
        return _load(self.form) if isinstance(self.form, str) else self.form


@dataclass
class FormChoice:
    """Which forms may be used: the fastest that apply, or the references alone. Made once, for a training say."""

    kind: Literal["auto", "eager"] = "auto"
    kernels_loaded: bool = False
    """Whether CPU kernels are loaded already, so that they pay off for little work too."""
    taken: dict[str, str] = field(default_factory=dict)
    """The names of the fast forms that were taken so far, by what they stand for."""

    @contextmanager
    def in_use(self) -> Iterator[FormChoice]:
        """Make this the choice that is asked, in this thread, until the end of the block."""
        token = _CHOICE.set(self)
        try:
            yield self
        finally:
            _CHOICE.reset(token)


_CHOICE: ContextVar[FormChoice | None] = ContextVar("choice", default=None)
_FORMS: dict[str, list[FastForm]] = {}


def current_choice() -> FormChoice:
    """Return the choice that is in use; where none is, the fastest forms may be used."""
    return _CHOICE.get() or FormChoice()


def fastest(reference: _Reference, *arguments: Any) -> _Reference:
    """Return the fast form of a reference function or class that applies to these arguments, or the reference."""
    choice = current_choice()
    if choice.kind == "eager":
        return reference
    name = name_of(reference)
    for form in _registered().get(name, ()):
        if form.why_not(*arguments) is None:
            choice.taken[name] = form.name
            choice.kernels_loaded = choice.kernels_loaded or form.loads_kernels
            return form.load()  # type: ignore[return-value]
    return reference


def why_not(reference: Callable[..., Any], *arguments: Any) -> dict[str, str]:
    """Return the fast forms of a reference that do not apply to these arguments, with the reasons."""
    reasons = {form.name: form.why_not(*arguments) for form in _registered().get(name_of(reference), ())}
    return {name: reason for name, reason in reasons.items() if reason is not None}


def register(form: FastForm) -> None:
    """Add a fast form; of several that apply, the one that was added last is taken."""
    _registered().setdefault(form.reference, []).insert(0, form)


def unregister(form: FastForm) -> None:
    """Take a fast form out again."""
    _registered()[form.reference].remove(form)


def registered() -> list[FastForm]:
    """Return all fast forms."""
    return [form for forms in _registered().values() for form in forms]


def name_of(reference: Callable[..., Any]) -> str:
    """Return the name under which a function or class is registered."""
    return f"{reference.__module__}:{reference.__qualname__}"


def _registered() -> dict[str, list[FastForm]]:
    if not _FORMS:
        from clausal.fast.catalogue import FORMS

        forms: dict[str, list[FastForm]] = {}
        for form in FORMS:
            forms.setdefault(form.reference, []).append(form)
        _FORMS.update(forms)  # at once: another thread may be asking
    return _FORMS


@cache
def _load(name: str) -> Callable[..., Any]:
    module, _, attribute = name.partition(":")
    loaded: Callable[..., Any] = getattr(import_module(module), attribute)
    return loaded
