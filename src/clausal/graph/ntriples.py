"""Facts from N-Triples, parsed by pyoxigraph."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import Any

from clausal.errors import InputError
from clausal.files import READING_ERRORS, cannot_read, open_bytes

_BATCH = 100_000
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def read_ntriples(path: Path) -> Any:
    """Return a pyarrow table of names.

    An IRI is named without its angle brackets, a blank node ``_:b``, a literal with its quotes and its
    language tag or data type, as in ``"Paris"@fr``, so that a literal never has the name of an IRI.
    """
    import pyarrow as pa
    from pyoxigraph import RdfFormat, parse

    batches = []
    try:
        with open_bytes(path) as stream:
            if stream.read(3) != _BYTE_ORDER_MARK:
                stream.seek(0)
            # Lenient: what an IRI may hold is not checked, since published dumps often break the rule.
            quads = parse(stream, format=RdfFormat.N_TRIPLES, lenient=True)
            while batch := list(islice(quads, _BATCH)):
                columns = {
                    "subject": _names(quad.subject for quad in batch),
                    "relation": _names(quad.predicate for quad in batch),
                    "object": _names(quad.object for quad in batch),
                }
                batches.append(pa.table(columns, schema=pa.schema([(key, pa.string()) for key in columns])))
    except SyntaxError as error:
        raise _explain(path, error) from None
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    except READING_ERRORS as error:
        raise cannot_read(path, error) from None
    if not batches:
        raise InputError(f"{path}: the file holds no facts; expected N-Triples, one fact per line")
    return pa.concat_tables(batches)


def line_of_row(path: Path, row: int) -> int:
    """Return the line that holds fact number ``row`` (from 0); blank lines and comments hold none."""
    with open_bytes(path) as stream:
        stripped = ((number, line.strip()) for number, line in enumerate(stream, start=1))
        facts = (number for number, line in stripped if line and not line.startswith(b"#"))
        return next(islice(facts, row, None))


def _explain(path: Path, error: SyntaxError) -> InputError:
    line = error.lineno or 0
    if "line jumps" in error.msg:  # the parser stands on the line after the one that is not complete
        return InputError(f"{path}:{line - 1}: the fact is not complete; expected '<subject> <relation> <object> .'")
    reason = error.msg.partition(": ")[2] or error.msg
    return InputError(f"{path}:{line}: not N-Triples: {reason}; expected '<subject> <relation> <object> .'")


def _names(terms: Iterable[Any]) -> list[str]:
    from pyoxigraph import NamedNode

    return [term.value if type(term) is NamedNode else _other_name(term) for term in terms]


def _other_name(term: Any) -> str:
    from pyoxigraph import Literal, Triple

    if isinstance(term, Triple):
        raise InputError(f"the quoted triple {term} cannot be an entity; write it as facts of its own")
    text = str(term)
    if isinstance(term, Literal) and text.endswith(">"):
        quoted, _, datatype = text.rpartition("^^<")
        return f"{quoted}^^{datatype[:-1]}"
    return text
