"""Files of facts, scored piece by piece, so that neither the facts nor their scores need to fit into memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from clausal.errors import InputError
from clausal.files import atomic_file, check_file_target, enough_memory_to_read
from clausal.graph.assembly import look_up
from clausal.graph.batches import read_batches
from clausal.graph.columns import parse_columns
from clausal.graph.graph import Graph
from clausal.graph.lookup import unknown_name
from clausal.graph.tables import bad_row
from clausal.observer import Observer
from clausal.run.best_answers import Asking
from clausal.run.scoring import Kept, Scores, check_unknown, score_ids

_DELIMITERS = {".csv": ",", ".tsv": "\t", ".txt": "\t"}


def score_file(
    asking: Asking,
    graph: Graph,
    path: str | Path,
    *,
    columns: str | Sequence[str],
    header: str,
    unknown: str,
    observer: Observer,
    **told_by: Any,
) -> Iterator[Scores]:
    """Yield the scores of the facts of a file, some at a time; ``rows`` count from the first fact of the file."""
    check_unknown(unknown)
    path, chosen = Path(path), parse_columns(columns, header)
    before = 0
    with enough_memory_to_read(path):
        for table in read_batches(path, chosen):
            ids = look_up(table, graph.entities, graph.relations)
            outside: Kept = np.any(ids < 0, axis=1)
            if unknown == "refuse" and outside.any():
                complaint = unknown_name(graph.entities, graph.relations)
                raise bad_row(path, chosen, complaint, before + int(outside.argmax()))
            yield score_ids(asking, graph, ids[~outside], ~outside, before=before, **told_by)
            before += table.num_rows
            observer.advanced("scoring", before, None, "facts")


def check_scores_target(path: Path) -> None:
    """Refuse a file that scores could not be written to, before any work is done for it."""
    if path.suffix.lower() not in (".parquet", *_DELIMITERS):
        raise InputError(f"{path}: scores are written as .parquet, .csv or .tsv, not '{path.suffix}'")
    check_file_target(path)
    if not path.parent.is_dir():
        raise InputError(f"{path}: the folder {path.parent} does not exist")


def write_scores(path: str | Path, batches: Iterable[Scores]) -> int:
    """Write scores as Parquet, CSV or tab-separated text, by the file's ending; return how many there are."""
    path = Path(path)
    check_scores_target(path)
    count = 0
    with atomic_file(path) as temporary:
        writer: Any = None
        try:
            for scores in batches:
                table = scores.to_table()
                if writer is None:
                    writer = _open_writer(temporary, path, table.schema)
                with _structural(path):
                    writer.write_table(table)
                count += len(scores)
        finally:
            if writer is not None:
                writer.close()
    return count


def _open_writer(temporary: Path, target: Path, schema: Any) -> Any:
    import pyarrow.parquet as pq
    from pyarrow import csv

    ending = target.suffix.lower()
    if ending == ".parquet":
        return pq.ParquetWriter(temporary, schema)
    # Tab-separated text has no quotes: a reader would take them for a part of the name.
    quoting = "needed" if ending == ".csv" else "none"
    options = csv.WriteOptions(delimiter=_DELIMITERS[ending], quoting_style=quoting)
    return csv.CSVWriter(str(temporary), schema, write_options=options)


@contextmanager
def _structural(path: Path) -> Iterator[None]:
    import pyarrow as pa

    try:
        yield
    except pa.ArrowInvalid as error:
        raise InputError(
            f"{path}: a name has a tab, a quote or a line break in it, which tab-separated text cannot hold; "
            f"write a .csv or .parquet file ({str(error).splitlines()[0]})"
        ) from None
