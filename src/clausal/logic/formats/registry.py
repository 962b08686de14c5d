"""The formats of rules by name, and reading and writing files of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from clausal.errors import InputError, did_you_mean
from clausal.logic.formats import aer, amie, anyburl, itere, kale, language, owl, prolog, rdfrules, rnnlogic, ruge
from clausal.logic.formats.detection import detect
from clausal.logic.formats.rule_file import RuleFile, Tell, tell_nobody
from clausal.logic.lines import read_beginning, read_text, write_lines
from clausal.logic.syntax import Clause


@dataclass(frozen=True)
class RuleFormat:
    """A format: who uses it, how it is read, and how it is written if it is."""

    title: str
    read: Callable[[RuleFile], list[Clause]]
    write: Callable[[Iterable[Clause]], Iterator[str]] | None = None


FORMATS = {
    "clausal": RuleFormat("the clause language", language.read, language.write),
    "kale": RuleFormat("KALE, FB122", language.read, kale.write),
    "prolog": RuleFormat("Prolog-like: inferbeddings, GNTP", language.read, prolog.write),
    "anyburl": RuleFormat("AnyBURL, PyClause", anyburl.read, anyburl.write),
    "amie": RuleFormat("AMIE 3, AMIE+", amie.read),
    "ruge": RuleFormat("RUGE, NeuralKG", ruge.read),
    "aer": RuleFormat("ComplEx-NNE+AER", aer.read),
    "itere": RuleFormat("IterE", itere.read),
    "rnnlogic": RuleFormat("RNNLogic, RulE", rnnlogic.read),
    "rdfrules": RuleFormat("RDFRules JSON", rdfrules.read),
    "owl": RuleFormat("OWL and RDFS axioms in RDF", owl.read),
}
"""The formats by name. Those without ``write`` are only read."""


def read_rules(
    path: str | os.PathLike[str],
    format: str | None = None,
    *,
    names: Sequence[str] | None = None,
    tell: Tell = tell_nobody,
) -> list[Clause]:
    """Read a file of rules in a format, by default the one that the file looks like.

    ``names`` are the relations by id, for formats that write ids. ``tell`` gets a sentence for what was left out.
    """
    file = RuleFile(os.fspath(path), read_text(os.fspath(path)), names, tell)
    format = format or detect(file)
    clauses = _format(format).read(file)
    if not clauses:
        expected = "" if FORMATS[format].write else f" in the format '{format}'"
        raise InputError(
            f"{file.source}: no clauses in this file{expected}"
            + ("; write one per line, as in p(X, Y) => q(X, Y)" if not expected else "")
        )
    return clauses


def read_clauses(path: str | os.PathLike[str]) -> list[Clause]:
    """Read a file of clauses, or of rules in any known format; a name that ends with ``.gz`` is decompressed."""
    return read_rules(path)


def detect_format(path: str | os.PathLike[str]) -> str:
    """Return the name of the format that a file looks like, by its name and its beginning."""
    return detect(RuleFile(os.fspath(path), read_beginning(os.fspath(path))))


def print_rules(clauses: Iterable[Clause], format: str) -> Iterator[str]:
    """Yield the lines of these clauses in a format that can be written."""
    writer = _format(format).write
    if writer is None:
        writable = ", ".join(name for name, known in FORMATS.items() if known.write)
        raise InputError(f"the format '{format}' is only read; these are written: {writable}")
    return writer(clauses)


def write_rules(path: str | os.PathLike[str], clauses: Iterable[Clause], format: str = "clausal") -> None:
    """Write clauses to a file in a format; a clause that the format cannot say is an error, and nothing is written."""
    write_lines(Path(path), print_rules(clauses, format))


def _format(name: str) -> RuleFormat:
    if name not in FORMATS:
        raise InputError(f"unknown rule format '{name}'{did_you_mean(name, FORMATS)}; known: {', '.join(FORMATS)}")
    return FORMATS[name]
