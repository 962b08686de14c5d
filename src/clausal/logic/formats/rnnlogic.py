"""RNNLogic and RulE: ``head body1 body2 …``, ids of relations; the body is a chain from X to Y."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from clausal.errors import InputError
from clausal.files import read_text
from clausal.logic.formats.rule_file import RuleFile, X, Y, read_id, read_mined_lines, weighted_clause
from clausal.logic.lines import LINE_END, Misread
from clausal.logic.shape import implication
from clausal.logic.syntax import Atom, Clause, Variable

_LINE = re.compile(r"\d+(?:[ \t]+\d+)*\s*$")
_DICTIONARIES = ("relations.dict", "relation2id.txt")

_NUMBER = re.compile(r"\S+")
_INVERSE = "!"  # RNNLogic's own mark, where its dictionary lists inverse relations


def fits_line(line: str) -> bool:
    """Tell whether a line is numbers alone."""
    return _LINE.match(line) is not None


def read(file: RuleFile) -> list[Clause]:
    """Read rules; of n relations, the id n + i is the inverse of relation i. A head alone has the body X = Y."""
    names = _without_inverses(file.names or read_dictionary(Path(file.source).parent) or _missing(file))

    def read_line(line: str, number: int) -> Clause | None:
        items = list(_NUMBER.finditer(line))
        if not items:
            return None
        # X, then a new variable after each atom but the last, which ends in Y.
        between = [Variable(f"Z{index}") for index in range(1, len(items) - 1)]
        steps = [X, *between, Y] if len(items) > 1 else [X]
        body = [_atom(item, names, steps[index], steps[index + 1]) for index, item in enumerate(items[1:])]
        return weighted_clause(implication(body, _atom(items[0], names, X, steps[-1])), file.source, number)

    return read_mined_lines(file, read_line)


def read_dictionary(folder: Path) -> list[str] | None:
    """Return the names by id of the first dictionary in a folder, as ``id TAB name`` or ``name TAB id``."""
    path = next((folder / name for name in _DICTIONARIES if (folder / name).is_file()), None)
    if path is None:
        return None
    names: dict[int, str] = {}
    for number, line in enumerate(LINE_END.split(read_text(path)), start=1):
        cells = line.split()
        if len(cells) < 2:
            continue  # blank, or the count of relations with which relation2id.txt begins
        identifier, name = (cells[0], cells[-1]) if path.name == _DICTIONARIES[0] else (cells[-1], cells[0])
        index = read_id(identifier)
        if index is None or index in names:
            raise InputError(f"{path}:{number}: expected an id of its own and a name for each relation")
        names[index] = name
    if sorted(names) != list(range(len(names))):
        raise InputError(f"{path}: expected the ids 0 to {len(names) - 1}, without gaps")
    return [names[index] for index in range(len(names))]


def _atom(item: re.Match[str], names: Sequence[str], subject: Variable, object: Variable) -> Atom:
    column = item.start() + 1
    identifier = read_id(item.group())
    if identifier is None:
        raise Misread(column, f"expected ids of relations, found '{item.group()}'")
    if identifier >= 2 * len(names):
        raise Misread(column, f"unknown id {identifier}: {len(names)} relations and their inverses end at "
                      f"{2 * len(names) - 1}")  # fmt: skip
    if identifier >= len(names):
        return Atom(names[identifier - len(names)], object, subject, column)
    return Atom(names[identifier], subject, object, column)


def _without_inverses(names: Sequence[str]) -> Sequence[str]:
    half = len(names) // 2
    inverse = [f"{_INVERSE}{name}" for name in names[:half]]
    return names[:half] if half and list(names[half:]) == inverse else names


def _missing(file: RuleFile) -> list[str]:
    raise InputError(
        f"{file.source}: these rules are ids of relations; put the dictionary that numbers them, "
        f"{' or '.join(_DICTIONARIES)}, beside this file"
    )
