"""Texts for WN18 and WN18RR from WordNet 3.0: ``python tools/wordnet_texts.py DICT descriptions.tsv``.

DICT is the folder with ``data.noun``, ``data.verb``, ``data.adj`` and ``data.adv``. The entities of these graphs are
the byte offsets of synsets in those files; a text is the words of a synset and its definition, without its examples. An
offset that several parts of speech have gets the texts of all of them, as a graph does not say which one it means.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

PARTS = ("noun", "verb", "adj", "adv")


def synsets(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the offset and the text of each synset of a data file; lines that begin with a blank are its licence."""
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith(" "):
            continue
        fields, _, gloss = line.partition(" | ")
        offset, _, _, count, *rest = fields.split(" ")
        words = [word.partition("(")[0].replace("_", " ") for word in rest[: 2 * int(count, 16) : 2]]
        definition = gloss.partition('; "')[0].strip()
        yield offset, f"{', '.join(words)}: {definition}"


def main(folder: str, out: str) -> None:
    """Write one line for each offset: the offset, a tab and its text."""
    texts: dict[str, list[str]] = {}
    for part in PARTS:
        path = Path(folder) / f"data.{part}"
        if not path.is_file():
            sys.exit(f"{path}: no such file; expected the folder dict of WordNet 3.0")
        for offset, text in synsets(path):
            texts.setdefault(offset, []).append(text)
    lines = (f"{offset}\t{' / '.join(own)}\n" for offset, own in sorted(texts.items()))
    Path(out).write_text("".join(lines), encoding="utf-8")
    print(f"{len(texts):,} texts written to {out}", file=sys.stderr)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: python tools/wordnet_texts.py DICT descriptions.tsv")
    main(*sys.argv[1:])
