"""Reading the documentation: its pages, their fenced blocks, their headings and their links."""

import re
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
DOCS = REPOSITORY / "docs"
PAGES = [REPOSITORY / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md")] + sorted(DOCS.rglob("*.md"))

_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its text and the line it starts on."""

    language: str
    text: str
    line: int


def name_of(page):
    return str(page.relative_to(REPOSITORY))


def read(name):
    return (REPOSITORY / name).read_text(encoding="utf-8")


def blocks(page):
    text = page.read_text(encoding="utf-8")
    return [Block(found[1], found[2], text.count("\n", 0, found.start()) + 1) for found in _FENCE.finditer(text)]


def prose(page):
    """Return a page without its fenced blocks."""
    return _FENCE.sub("", page.read_text(encoding="utf-8"))


def links(page):
    return re.findall(r"\]\(([^)\s]+)\)", prose(page))


def anchors(page):
    """Return the fragments that the headings of a page can be linked by."""
    headings = re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-") for heading in headings}


def section(text, heading):
    """Return what stands between a heading of the second level and the next one."""
    _, _, rest = text.partition(f"\n## {heading}\n")
    return rest.partition("\n## ")[0]
