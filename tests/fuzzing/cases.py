"""A case is files and options: all that a target needs, kept as JSON that can be read and mended by hand."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

CORPUS = Path(__file__).with_name("corpus")


@dataclass(frozen=True)
class Case:
    """The content of each file by its name, and what else a target is told; ``None`` is a file that is removed."""

    files: Mapping[str, bytes | None] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)

    def write(self, folder: Path) -> list[Path]:
        """Write the files into a folder, and return their paths."""
        paths = []
        for name, content in self.files.items():
            path = folder / name
            if content is None:
                path.unlink(missing_ok=True)
            else:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
            paths.append(path)
        return paths

    def to_json(self) -> str:
        """Write the case: files that are text as text, others in base 64."""
        files = {name: None if content is None else _readable(content) for name, content in self.files.items()}
        return json.dumps({"files": files, "options": self.options}, indent=1) + "\n"

    @staticmethod
    def from_json(text: str) -> Case:
        """Read what ``to_json`` wrote."""
        values = json.loads(text)
        return Case({name: _content(found) for name, found in values["files"].items()}, values["options"])

    @property
    def digest(self) -> str:
        """A short name that no other case has."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()[:10]


def _readable(content: bytes) -> Any:
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(content).decode("ascii")}
    for length in range(1, 9):  # a text of one part again and again is written as such
        part, times = text[:length], len(text) // length
        if len(text) > 2000 and part * times == text:
            return {"part": part, "times": times}
    return text


def _content(found: Any) -> bytes | None:
    if found is None or isinstance(found, str):
        return None if found is None else found.encode("utf-8")
    if "base64" in found:
        return base64.b64decode(found["base64"])
    return (found.get("before", "") + found["part"] * found["times"] + found.get("after", "")).encode("utf-8")


def corpus(target: str) -> Iterator[tuple[str, Case]]:
    """Yield the names and cases of the corpus of a target: each failed once, or nearly."""
    for path in sorted((CORPUS / target).glob("*.json")):
        yield path.stem, Case.from_json(path.read_text(encoding="utf-8"))
