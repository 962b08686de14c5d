"""IterE: relations with tabs, one axiom a line; the kind of axiom is in the file's name, as in ``axiom_inverse``.

Each axiom is read as the rule by which IterE derives facts from it, its first relation being the head of a chain.
"""

from __future__ import annotations

from clausal.errors import InputError
from clausal.logic.formats.rule_file import RuleFile, X, Y, Z, read_confidence, read_mined_lines, weighted_clause
from clausal.logic.lines import Misread
from clausal.logic.shape import implication
from clausal.logic.syntax import Atom, Clause, Variable

_PREFIX = "axiom_"

_Pattern = tuple[int, Variable, Variable]
# The atoms of each kind, the head last: which relation of the line, and its arguments.
_KINDS: dict[str, tuple[_Pattern, ...]] = {
    "reflexive": ((0, X, Y), (0, X, X)),
    "symmetric": ((0, X, Y), (0, Y, X)),
    "transitive": ((0, X, Y), (0, Y, Z), (0, X, Z)),
    "inverse": ((0, X, Y), (1, Y, X)),
    "equivalent": ((0, X, Y), (1, X, Y)),
    "subproperty": ((0, X, Y), (1, X, Y)),
    "inferencechain1": ((1, Z, X), (2, Z, Y), (0, X, Y)),
    "inferencechain2": ((1, Z, X), (2, Y, Z), (0, X, Y)),
    "inferencechain3": ((1, X, Z), (2, Z, Y), (0, X, Y)),
    "inferencechain4": ((1, X, Z), (2, Y, Z), (0, X, Y)),
}


def fits_file(file: RuleFile) -> bool:
    """Tell whether a file is named ``axiom_…`` and has no atoms."""
    lines = file.first_lines
    return bool(lines) and file.stem.startswith(_PREFIX) and not any("(" in line for line in lines)


def read(file: RuleFile) -> list[Clause]:
    """Read axioms of the kind that the file's name says; a further column is taken as the confidence."""
    kind = file.stem.casefold().removeprefix(_PREFIX)
    if kind not in _KINDS:
        known = ", ".join(f"{_PREFIX}{name}" for name in _KINDS)
        raise InputError(f"{file.source}: IterE's kind of axiom is in the file's name; name the file one of {known}")
    patterns = _KINDS[kind]
    width = 1 + max(index for index, _, _ in patterns)

    def read_line(line: str, number: int) -> Clause | None:
        if not line.strip():
            return None
        cells = line.split("\t")
        if not width <= len(cells) <= width + 1 or not all(cell.strip() for cell in cells):
            raise Misread(1, f"expected {width} relation{'s' * (width > 1)} with tabs for the axiom '{kind}'")
        starts = [1 + sum(len(cell) + 1 for cell in cells[:index]) for index in range(len(cells))]
        atoms = [Atom(cells[index].strip(), subject, object, starts[index]) for index, subject, object in patterns]
        confidence = read_confidence(cells[width], starts[width]) if len(cells) > width else None
        return weighted_clause(implication(atoms[:-1], atoms[-1]), file.source, number, confidence)

    return read_mined_lines(file, read_line)
