"""The vocabulary: names of entities and of relations, and their integer ids."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from clausal.errors import InputError
from clausal.graph.near_names import suggest


class Names(Sequence[str]):
    """An ordered set of names; a name's id is its position.

    Names that come as a pyarrow array stay one, in a sixth of the memory, until something asks for all of them.
    """

    def __init__(self, names: Sequence[str] | Any, kind: str) -> None:
        self._kept: Any = names if hasattr(names, "to_pylist") else list(names)
        self.kind = kind

    @property
    def _names(self) -> list[str]:
        if not isinstance(self._kept, list):
            self._kept = self._kept.to_pylist()
        names: list[str] = self._kept
        return names

    @cached_property
    def _ids(self) -> dict[str, int]:
        return {name: index for index, name in enumerate(self._names)}

    def __len__(self) -> int:
        return len(self._kept)

    @overload
    def __getitem__(self, index: int) -> str: ...

    @overload
    def __getitem__(self, index: slice) -> list[str]: ...

    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice) or isinstance(self._kept, list):
            return self._names[index]
        name: str = self._kept[int(index)].as_py()
        return name

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

    def ids(self, names: Iterable[str]) -> NDArray[np.int32]:
        """Return the ids of names, −1 for an unknown one. Shape [names]."""
        return np.fromiter((self._ids.get(name, -1) for name in names), np.int32)

    def suggestion(self, name: str) -> str:
        """Return ``"; did you mean 'x'?"`` for the nearest known name, or an empty string."""
        return suggest(name, self._names)
