"""The vocabulary: names of entities and of relations, and their integer ids."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import overload

from clausal.errors import InputError, did_you_mean

_MOST_NAMES_COMPARED = 50_000


class Names(Sequence[str]):
    """An ordered set of names; a name's id is its position."""

    def __init__(self, names: Sequence[str], kind: str) -> None:
        self._names = list(names)
        self.kind = kind

    @cached_property
    def _ids(self) -> dict[str, int]:
        return {name: index for index, name in enumerate(self._names)}

    def __len__(self) -> int:
        return len(self._names)

    @overload
    def __getitem__(self, index: int) -> str: ...

    @overload
    def __getitem__(self, index: slice) -> list[str]: ...

    def __getitem__(self, index: int | slice) -> str | list[str]:
        return self._names[index]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __contains__(self, name: object) -> bool:
        return name in self._ids

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Names) and self._names == other._names

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Names({len(self)} of kind {self.kind!r})"

    def id(self, name: str) -> int:
        """Return the id of ``name``; an unknown name is an error that suggests the nearest known one."""
        try:
            return self._ids[name]
        except KeyError:
            raise InputError(f"unknown {self.kind} '{name}'{self.suggestion(name)}") from None

    def suggestion(self, name: str) -> str:
        """Return ``"; did you mean 'x'?"`` for the nearest known name, or an empty string."""
        candidates: Sequence[str] = self._names
        if len(candidates) > _MOST_NAMES_COMPARED:  # comparing millions of names would take minutes
            candidates = [known for known in candidates if known[:2].casefold() == name[:2].casefold()]
        return did_you_mean(name, candidates[:_MOST_NAMES_COMPARED])
