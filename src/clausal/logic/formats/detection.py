"""Which format a file of rules is in: by its name, or by a look at its first lines."""

from __future__ import annotations

from itertools import islice

from clausal.logic.formats import aer, amie, anyburl, itere, owl, rnnlogic
from clausal.logic.formats.amie_rule import looks_like_rule
from clausal.logic.formats.rule_file import RuleFile
from clausal.logic.lines import LINE_END

_SAMPLE = 1 << 16
_LINES = 50
_RDF_STARTS = ("@prefix", "@base", "PREFIX ", "BASE ", "<?xml", "<rdf:", "<http", "<!DOCTYPE")


def detect(file: RuleFile) -> str:
    """Return the name of the format; what is none of the others is the clause language."""
    sample = file.text[:_SAMPLE]
    start = sample.lstrip()
    if file.ending in owl.ENDINGS or start.startswith(_RDF_STARTS):
        return "owl"
    if start.startswith(("[", "{")):
        return "rdfrules"
    lines = LINE_END.split(sample)
    if len(sample) == _SAMPLE:
        del lines[-1]  # probably cut off
    lines = list(islice(filter(str.strip, lines), _LINES))
    if lines and file.stem.startswith(itere.PREFIX) and not any("(" in line for line in lines):
        return "itere"
    if amie.HEADER.search(sample):
        return "amie"
    for line in lines:
        if found := _format_of(line):
            return found
    return _way_of_writing(lines)


def _format_of(line: str) -> str | None:
    if anyburl.LINE.match(line):
        return "anyburl"
    text, *measures = line.split("\t")
    if looks_like_rule(text):
        return "ruge" if len(measures) == 1 else "amie"
    if aer.LINE.match(line):
        return "aer"
    return "rnnlogic" if rnnlogic.LINE.match(line) else None


def _way_of_writing(lines: list[str]) -> str:
    """Say which of the notations of the clause language the first clause is in; all are read alike."""
    first = next((line for line in lines if line.lstrip()[0] not in "%#"), "")
    return "kale" if "==>" in first else "prolog" if ":-" in first else "clausal"
