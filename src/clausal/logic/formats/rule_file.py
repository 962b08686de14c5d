"""A file of rules as its reader sees it: the text, where it came from, and whom to tell what a clause cannot say."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

Tell = Callable[[str], None]
"""Called with sentences a user should read, such as how many conditions were left out."""


def tell_nobody(_: str) -> None:
    """Drop the sentence."""


@dataclass(frozen=True)
class RuleFile:
    """The text of a file, its path, and the relations' names by id for formats that write ids."""

    source: str
    text: str
    names: Sequence[str] | None = None
    tell: Tell = tell_nobody

    @property
    def stem(self) -> str:
        """The file's name without endings: ``axiom_inverse`` for ``axiom_inverse.txt.gz``."""
        return Path(self.source).name.partition(".")[0]

    @property
    def ending(self) -> str:
        """The ending in lower case, without ``.gz``: ``.ttl``."""
        return Path(self.source.removesuffix(".gz")).suffix.lower()
