"""Which syntax an RDF file has, its prefixes where the parser does not tell them, and XML that is refused."""

from __future__ import annotations

import re

from clausal.choices import RDF_ENDINGS as RDF_ENDINGS
from clausal.errors import InputError

_XML_STARTS = ("<?xml", "<rdf:", "<!--", "<!DOCTYPE")
_TURTLE_STARTS = ("@prefix", "@base", "PREFIX", "BASE", "prefix", "base", "<http")
_NAMESPACE = re.compile(r"""\sxmlns(?::([^\s=]+))?\s*=\s*["']([^"']*)["']""")
_FIRST_ELEMENT = re.compile(r"<[^\s!?][^>]*>")
_ENTITY = re.compile(r"""<!ENTITY([^<"']*)(?:"([^"]*)"|'([^']*)')""")
_REFERENCE = re.compile(r"&([^\s&;<]+);")
_MOST_GROWTH = 32  # an IRI in the place of each short reference makes a text about ten times as long


def syntax_of(ending: str, beginning: str) -> str:
    """Return pyoxigraph's name of a file's syntax, by its ending and its first characters.

    ``.owl`` files come in XML and in Turtle, and some files have the ending of the other.
    """
    start = beginning.lstrip()
    syntax = RDF_ENDINGS.get(ending, "TURTLE")
    if syntax in ("TURTLE", "RDF_XML") and start.startswith(_XML_STARTS):
        return "RDF_XML"
    if syntax == "RDF_XML" and start.startswith(_TURTLE_STARTS):
        return "TURTLE"
    return syntax


def xml_prefixes(beginning: str) -> dict[str, str]:
    """Return the prefixes that the first element of an XML document declares."""
    values = {words.split()[-1]: one or two for words, one, two in _ENTITY.findall(beginning) if words.strip()}
    element = _FIRST_ELEMENT.search(beginning)
    declared = _NAMESPACE.findall(element[0]) if element else []
    return {
        prefix: _REFERENCE.sub(lambda reference: values.get(reference[1], reference[0]), iri)
        for prefix, iri in declared
        if prefix not in ("xml", "xmlns")
    }


def check_xml_entities(source: str, text: str, instead: str) -> None:
    """Refuse XML whose entities stand for far more text than the file has, as a few that stand for one another can.

    The parser writes out the value of an entity where it is declared, by those declared before it. ``instead`` says
    what to save as Turtle.
    """
    room = _MOST_GROWTH * len(text) + (1 << 20)
    lengths: dict[str, int] = {}

    def written_out(text: str) -> int:
        return sum(lengths.get(name, 0) for name in _REFERENCE.findall(text)) if lengths else 0

    for declared, one, two in _ENTITY.findall(text):
        value = one or two
        length = len(value) + written_out(value)
        room -= length
        if room < 0:
            break
        name = declared.split()[-1] if declared.strip() else ""
        lengths[name] = max(length, lengths.get(name, 0))
    if room < 0 or written_out(text) > room:
        raise InputError(
            f"{source}: its entities (<!ENTITY …>) stand for more than {_MOST_GROWTH} times the text of the file; "
            f"write out what they stand for, or save {instead} as Turtle"
        )
