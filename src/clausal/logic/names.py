"""Names in clauses: which may stand unquoted, which are variables, and how the others are quoted."""

from __future__ import annotations

import re

# The same characters as in grammar.lark: letters and marks of any script, digits, and _ - / . :
_CHARACTER = r"[^\s\x00-,;-@\[-^`{-\xa0¬∧∨⇒⇐⇔→←↔⊥]"
_IDENTIFIER_CHARACTER = r"[^\s\x00-/:-@\[-^`{-\xa0¬∧∨⇒⇐⇔→←↔⊥]"
_NAME = re.compile(rf"(?!:-){_CHARACTER}+(?<!\.)")
_IDENTIFIER = re.compile(rf"{_IDENTIFIER_CHARACTER}+")
_LEADING_WEIGHT = re.compile(r"[0-9.]+(?:[eE][-+]?[0-9]+)?::")
_KEYWORDS = frozenset({"not", "false"})
_ANONYMOUS = re.compile(rf"(?<!{_CHARACTER})(?<!\?)_(?!{_CHARACTER})")

_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.?))", re.DOTALL)
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t", "\\": "\\", "'": "'", '"': '"'}
_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\", "'": "\\'"}


def is_variable_name(name: str) -> bool:
    """Tell whether a variable may have this name; ``_`` alone may not, since each ``_`` is a new variable."""
    return name != "_" and _IDENTIFIER.fullmatch(name) is not None


def reads_as_variable(name: str) -> bool:
    """Tell whether this name, unquoted and as an argument, is a variable: ``X``, ``Who``, ``_x``, ``x``."""
    first = name[:1]
    looks = first == "_" or first.isupper() or first.istitle() or (len(name) == 1 and first.islower())
    return looks and _IDENTIFIER.fullmatch(name) is not None


def has_anonymous(text: str) -> bool:
    """Tell whether the anonymous variable ``_`` may stand in a clause's text; inside quotes it is none."""
    return _ANONYMOUS.search(text) is not None


def is_anonymous_at(text: str, column: int) -> bool:
    """Tell whether the anonymous variable ``_`` stands at this column (counted from 1) of a clause's text."""
    return _ANONYMOUS.match(text, column - 1) is not None


def write_variable(name: str) -> str:
    """Write a variable's name so that it reads as a variable: ``X`` as it is, ``who`` as ``?who``."""
    return name if reads_as_variable(name) else f"?{name}"


def write_constant(name: str) -> str:
    """Write an entity's name as an argument, quoted where it would not be read as that constant."""
    return name if _may_stand_bare(name) and not reads_as_variable(name) else quote(name)


def write_relation(name: str) -> str:
    """Write a relation's name, quoted where it would not be read as that relation."""
    bare = _may_stand_bare(name) and name not in _KEYWORDS and not _LEADING_WEIGHT.match(name)
    return name if bare else quote(name)


def quote(name: str) -> str:
    """Put a name in single quotes, with escapes for quotes, backslashes and what cannot be seen."""
    return "'" + "".join(_escape(character) for character in name) + "'"


def unquote(text: str) -> str:
    """Return the name inside a quoted one, its escapes replaced; a wrong escape is a ``ValueError``."""
    inner = text[1:-1]
    return _ESCAPE.sub(_unescape, inner) if "\\" in inner else inner


def _may_stand_bare(name: str) -> bool:
    return _NAME.fullmatch(name) is not None and name.isprintable()


def _escape(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    if character.isprintable():
        return character
    code = ord(character)
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _unescape(match: re.Match[str]) -> str:
    short, long, simple = match.groups()
    if simple is None:
        return chr(int(short or long, 16))  # beyond the last code point: a ValueError
    if simple not in _ESCAPED:
        raise ValueError(f"unknown escape '\\{simple}'")
    return _ESCAPED[simple]
