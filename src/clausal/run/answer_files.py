"""Answers to files: tables for programs, or RDF in which each answer is a statement with its score and probability.

RDF does not assert the answers: a prediction is no fact. A statement is reified, which every reader of RDF knows, or
is a triple term of RDF 1.2 (RDF-star).
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from clausal.choices import BASE_IRI
from clausal.errors import InputError
from clausal.files import atomic_file, check_file_target, write_text
from clausal.graph.rdf_names import Place, rdf_term
from clausal.run.prediction import Answer

ENDINGS = (".csv", ".tsv", ".jsonl", ".parquet", ".nt", ".ttl")
VOCABULARY = "urn:clausal:vocabulary:"
"""What stands before the names of an answer's properties in RDF: score, probability, verdict, confidence, rank."""
_RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
_XSD = "http://www.w3.org/2001/XMLSchema#"
_PROPERTIES = {
    "rank": "integer",
    "score": "double",
    "probability": "double",
    "precision": "double",
    "verdict": "string",
    "confidence": "double",
    "proof": "string",
}


def check_answer_file(path: Path, *, star: bool = False) -> None:
    """Refuse a file that answers could not be written to, before any work is done for it."""
    if path.suffix.lower() not in ENDINGS:
        raise InputError(f"{path}: answers are written as {', '.join(ENDINGS)}, not '{path.suffix}'")
    if star and path.suffix.lower() not in (".nt", ".ttl"):
        raise InputError(f"--rdf-star is for .nt and .ttl, not '{path.suffix}'")
    check_file_target(path)
    if not path.parent.is_dir():
        raise InputError(f"{path}: the folder {path.parent} does not exist")


def write_answers(
    path: str | Path, answers: Sequence[Any], *, kind: Any = Answer, base: str = BASE_IRI, star: bool = False
) -> None:
    """Write answers with full names in the format of the file's ending, one of ``ENDINGS``.

    ``kind`` is their class, a named tuple that has the parts of a fact. In RDF, names that are no IRIs stand behind
    ``base``, percent-encoded; with ``star`` statements are triple terms.
    """
    path = Path(path)
    check_answer_file(path, star=star)
    ending = path.suffix.lower()
    if ending == ".parquet":
        _write_parquet(path, answers, kind)
    elif ending == ".jsonl":
        write_text(path, "".join(f"{json.dumps(_object(one), ensure_ascii=False)}\n" for one in answers))
    elif ending in (".nt", ".ttl"):
        write_text(path, "".join(_statement(number, one, base, star) for number, one in enumerate(answers, 1)))
    else:
        text = io.StringIO()
        writer = csv.writer(text, delimiter="," if ending == ".csv" else "\t", lineterminator="\n")
        writer.writerow(kind._fields)
        writer.writerows([_on_one_line(cell) for cell in one] for one in answers)
        write_text(path, text.getvalue())


def _write_parquet(path: Path, answers: Sequence[Any], kind: Any) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    kinds = {"rank": pa.int64(), "known": pa.bool_()} | dict.fromkeys(
        ("score", "probability", "precision", "confidence"), pa.float64()
    )
    schema = pa.schema([(name, kinds.get(name, pa.string())) for name in kind._fields])
    with atomic_file(path) as temporary:
        parquet.write_table(pa.Table.from_pylist([one._asdict() for one in answers], schema=schema), temporary)


def _statement(number: int, answer: Any, base: str, star: bool) -> str:
    """Return the lines of one answer in N-Triples, which is Turtle too."""
    node = f"_:answer{number}"
    places: tuple[Place, ...] = ("subject", "relation", "object")
    subject, relation, object = (rdf_term(getattr(answer, place), base, place=place) for place in places)
    if star:
        lines = [f"{node} <{_RDF}reifies> <<( {subject} {relation} {object} )>> ."]
    else:
        lines = [f"{node} <{_RDF}type> <{_RDF}Statement> ."]
        parts = {"subject": subject, "predicate": relation, "object": object}
        lines += [f"{node} <{_RDF}{part}> {term} ." for part, term in parts.items()]
    for name, kind in _PROPERTIES.items():
        value = getattr(answer, name, None)
        if value is not None:
            written = "" if kind == "string" else f"^^<{_XSD}{kind}>"
            value = _escaped(value) if kind == "string" else str(value).replace("inf", "INF")
            lines.append(f'{node} <{VOCABULARY}{name}> "{value}"{written} .')
    return "".join(f"{line}\n" for line in lines)


def _object(answer: Any) -> dict[str, Any]:
    """Return an answer as an object of JSON, which has no ∞."""
    return {
        name: None if isinstance(value, float) and math.isinf(value) else value
        for name, value in answer._asdict().items()
    }


def _on_one_line(cell: Any) -> Any:
    """Return a text without line breaks, as a proof has them: tables of text are read line by line."""
    return " ".join(cell.splitlines()) if isinstance(cell, str) and "\n" in cell else cell


def _escaped(text: str) -> str:
    """Write a text as the inside of a literal of N-Triples."""
    return text.translate({ord("\\"): "\\\\", ord('"'): '\\"', ord("\n"): "\\n", ord("\r"): "\\r"})
