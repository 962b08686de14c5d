"""RDFRules JSON: an array of rules, each with ``head``, ``body`` and ``measures``."""

from __future__ import annotations

import re
from json import JSONDecodeError, JSONDecoder
from typing import Any

from clausal.errors import InputError
from clausal.logic.formats.rule_file import RuleFile, read_confidence, read_count, weighted_clause
from clausal.logic.lines import Misread
from clausal.logic.shape import implication
from clausal.logic.syntax import Atom, Clause, Constant, Term, Variable

_BLANK = re.compile(r"[\s,]*")
_NAMES = re.compile(r"[^a-z]")  # HeadCoverage, headCoverage and "Head Coverage" are one measure


def fits_file(file: RuleFile) -> bool:
    """Tell whether a file begins as JSON does."""
    return file.beginning.lstrip().startswith(("[", "{"))


def read(file: RuleFile) -> list[Clause]:
    """Read rules one by one, so that each has its line."""
    text, decoder = file.text, JSONDecoder()
    start = _BLANK.match(text).end()  # type: ignore[union-attr]  # it matches the empty text too
    in_array = text[start : start + 1] == "["
    position = start + in_array
    clauses = []
    line, counted = 1, 0
    while True:
        position = _BLANK.match(text, position).end()  # type: ignore[union-attr]
        if position >= len(text) or text[position] == "]":
            break
        line += text.count("\n", counted, position)
        counted = position
        column = position - text.rfind("\n", 0, position)
        try:
            value, position = decoder.raw_decode(text, position)
            clauses.append(_rule(value, file.source, line))
        except JSONDecodeError as error:
            raise InputError(f"{file.source}:{error.lineno}:{error.colno}: not JSON: {error.msg}") from None
        except ValueError:
            raise InputError(f"{file.source}:{line}:{column}: a number of the rule has too many digits") from None
        except Misread as misread:
            raise InputError(f"{file.source}:{line}:{column}: {misread.problem}") from None
        except RecursionError:
            raise InputError(f"{file.source}:{line}:{column}: nested too deeply to be a rule") from None
    return clauses


def _rule(value: Any, source: str, line: int) -> Clause:
    if not isinstance(value, dict) or "head" not in value or not isinstance(value.get("body"), list):
        raise Misread(1, "expected a rule: an object with 'head', 'body' and 'measures'")
    formula = implication([_atom(part) for part in value["body"]], _atom(value["head"]))
    measures = _measures(value.get("measures", []))
    confidence = measures.get("confidence", measures.get("pcaconfidence"))
    support = measures.get("support")
    return weighted_clause(
        formula,
        source,
        line,
        None if confidence is None else read_confidence(str(confidence), 1),
        None if support is None else read_count(str(support), 1),
    )


def _measures(value: Any) -> dict[str, Any]:
    try:
        return {_NAMES.sub("", measure["name"].lower()): measure["value"] for measure in value}
    except (TypeError, KeyError, AttributeError):
        raise Misread(1, "expected measures as objects with 'name' and 'value'") from None


def _atom(value: Any) -> Atom:
    if not isinstance(value, dict) or not {"subject", "predicate", "object"} <= value.keys():
        raise Misread(1, "expected an atom: an object with 'subject', 'predicate' and 'object'")
    return Atom(_name(value["predicate"]), _term(value["subject"]), _term(value["object"]))


def _term(value: Any) -> Term:
    if not isinstance(value, dict) or value.get("type") not in ("variable", "constant") or "value" not in value:
        raise Misread(1, "expected an item with a 'type' (variable or constant) and a 'value'")
    if value["type"] == "constant":
        return Constant(_name(value["value"]))
    try:
        return Variable(str(value["value"]).removeprefix("?"))
    except InputError as error:
        raise Misread(1, str(error)) from None


def _name(value: Any) -> str:
    """Return a resource's name without angle brackets, as the graph's readers name it."""
    if isinstance(value, dict):
        if isinstance(value.get("nameSpace"), str) and isinstance(value.get("localName"), str):
            return str(value["nameSpace"] + value["localName"])
        raise Misread(1, "expected a name, or an object with 'nameSpace' and 'localName'")
    text = str(value)
    return text[1:-1] if len(text) > 2 and text.startswith("<") and text.endswith(">") else text
