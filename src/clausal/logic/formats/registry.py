"""The formats of rules by name: how each is recognised, read and written."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from clausal.errors import InputError, did_you_mean
from clausal.files import enough_memory_to_read, read_text
from clausal.logic.formats import aer, amie, anyburl, itere, language, owl, rdfrules, rnnlogic
from clausal.logic.formats.rule_file import RuleFile, Tell, tell_nobody
from clausal.logic.lines import read_beginning, write_lines
from clausal.logic.syntax import Clause


@dataclass(frozen=True)
class RuleFormat:
    """A format: who uses it, how it is read, how it is written if it is, and how it is recognised.

    ``fits_file`` looks at a file's name and beginning, ``fits_line`` at one line of it.
    """

    title: str
    read: Callable[[RuleFile], list[Clause]]
    write: Callable[[Iterable[Clause]], Iterator[str]] | None = None
    fits_file: Callable[[RuleFile], bool] | None = None
    fits_line: Callable[[str], bool] | None = None


FORMATS = {
    "clausal": RuleFormat("the clause language", language.read, language.write_clausal),
    "kale": RuleFormat("KALE, FB122", language.read, language.write_kale),
    "prolog": RuleFormat("Prolog-like: inferbeddings, GNTP", language.read, language.write_prolog),
    "owl": RuleFormat("OWL and RDFS axioms in RDF", owl.read, owl.write, fits_file=owl.fits_file),
    "rdfrules": RuleFormat("RDFRules JSON", rdfrules.read, fits_file=rdfrules.fits_file),
    "itere": RuleFormat("IterE", itere.read, fits_file=itere.fits_file),
    "anyburl": RuleFormat("AnyBURL, PyClause", anyburl.read, anyburl.write, fits_line=anyburl.fits_line),
    "amie": RuleFormat("AMIE 3, AMIE+", amie.read_amie, fits_file=amie.has_header, fits_line=amie.is_amie_line),
    "ruge": RuleFormat("RUGE, NeuralKG", amie.read_ruge, fits_line=amie.is_ruge_line),
    "aer": RuleFormat("ComplEx-NNE+AER", aer.read, fits_line=aer.fits_line),
    "rnnlogic": RuleFormat("RNNLogic, RulE", rnnlogic.read, fits_line=rnnlogic.fits_line),
}
"""The formats by name, in the order in which they are recognised. Those without ``write`` are only read."""


_OTHER_ENDINGS = (".parquet", ".arrow", ".feather", ".json", ".jsonl", ".csv", ".xlsx", ".n3", ".gz", ".bz2", ".zst",
                   ".zip")  # fmt: skip


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
    file = RuleFile(os.fspath(path), read_text(Path(path)), names, tell)
    format = format or _detect(file)
    with enough_memory_to_read(file.source):
        clauses = _format(format).read(file)
    if not clauses:
        expected = "" if FORMATS[format].read is language.read else f" in the format '{format}'"
        raise InputError(
            f"{file.source}: no clauses in this file{expected}"
            + ("; write one per line, as in p(X, Y) => q(X, Y)" if not expected else "")
        )
    return clauses


def read_clauses(path: str | os.PathLike[str]) -> list[Clause]:
    """Read a file of clauses, or of rules in any known format; a compressed one is decompressed by its ending."""
    return read_rules(path)


def detect_format(path: str | os.PathLike[str]) -> str:
    """Return the name of the format that a file looks like, by its name and its beginning."""
    return _detect(RuleFile(os.fspath(path), read_beginning(Path(path))))


def print_rules(clauses: Iterable[Clause], format: str, *, tell: Tell = tell_nobody) -> Iterator[str]:
    """Yield the lines of these clauses in a format that can be written; ``tell`` is as for ``write_rules``."""
    if format == "owl":
        return owl.write(clauses, tell=tell)
    writer = _format(format).write
    if writer is None:
        writable = ", ".join(name for name, known in FORMATS.items() if known.write)
        raise InputError(f"the format '{format}' is only read; these are written: {writable}")
    return writer(clauses)


def write_rules(
    path: str | os.PathLike[str], clauses: Iterable[Clause], format: str | None = None, *, tell: Tell = tell_nobody
) -> None:
    """Write clauses to a file in a format, by default ``owl`` for an ending of RDF and ``clausal`` for any other.

    A clause that the format cannot say is an error, and nothing is written; of ``owl``, those that are no axiom are
    left out, and ``tell`` gets a sentence that says so.
    """
    path = Path(path)
    if (format or format_of_target(path)) == "owl":
        write_lines(path, owl.write(clauses, path.suffix.lower(), tell))
    else:
        write_lines(path, print_rules(clauses, format or "clausal"))


def format_of_target(path: Path, format: str | None = None) -> str:
    """Return the format in which a file is written; an ending that it cannot have is an error."""
    ending = path.suffix.lower()
    if ending in _OTHER_ENDINGS:
        raise InputError(f"{path}: clauses are not written as {ending}; name it .txt, or .ttl, .nt or .owl for axioms")
    if format == "owl" and ending not in owl.WRITTEN:
        raise InputError(f"{path}: axioms are written as RDF; expected an ending of {', '.join(owl.WRITTEN)}")
    if format not in (None, "owl") and ending in owl.WRITTEN:
        raise InputError(
            f"{path}: the ending {ending} is RDF, which holds axioms (--to owl), not the format '{format}'"
        )
    return format or ("owl" if ending in owl.WRITTEN else "clausal")


def _detect(file: RuleFile) -> str:
    """Return the name of the format that a file looks like; what is none of the others is the clause language."""
    for name, format in FORMATS.items():
        if format.fits_file is not None and format.fits_file(file):
            return name
    for line in file.first_lines:
        for name, format in FORMATS.items():
            if format.fits_line is not None and format.fits_line(line):
                return name
    return language.dialect_of(file)


def _format(name: str) -> RuleFormat:
    if name not in FORMATS:
        raise InputError(f"unknown rule format '{name}'{did_you_mean(name, FORMATS)}; known: {', '.join(FORMATS)}")
    return FORMATS[name]
