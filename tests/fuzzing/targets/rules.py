"""Rules in every format: the published files, lines of them mixed and damaged, read by detection or by name."""

from __future__ import annotations

from pathlib import Path

from hypothesis import strategies as st

from clausal import ClausalError
from clausal.logic import FORMATS, parse_clauses, print_clause, read_rules, write_rules
from fuzzing.cases import Case
from fuzzing.damage import changed, changes, compressed, compressions, odd_text
from fuzzing.targets import Target

FILES = Path(__file__).parents[2] / "logic" / "formats" / "files"
_PUBLISHED = {path.name: path.read_bytes() for path in sorted(FILES.iterdir()) if path.is_file()}
_WRITTEN = [name for name, format in FORMATS.items() if format.write]
_LINES = sorted({line for content in _PUBLISHED.values() for line in content.splitlines()[:12] if len(line) < 300})
_OTHER_NAMES = [
    "rules.txt",
    "axiom_transitive.txt",
    "axiom_equivalent.txt",
    "rules.tsv",
    "_cons.txt",
    "a.json",
    "b.owl",
]

_lines = st.lists(st.integers(0, len(_LINES) - 1).map(_LINES.__getitem__), max_size=6).map(b"\n".join)
_names = st.lists(st.sampled_from(["p", "q", "r", "has part"]) | odd_text, max_size=4)


@st.composite
def _cases(draw: st.DrawFn) -> Case:
    name = draw(st.sampled_from([*_PUBLISHED, *_OTHER_NAMES]))
    whole = name in _PUBLISHED and draw(st.booleans())
    content = changed(_PUBLISHED[name], draw(changes)) if whole else draw(_lines)
    if not whole and draw(st.booleans()):
        content = changed(content, draw(changes))
    compression = draw(compressions)
    options = {
        "format": st.sampled_from([*FORMATS, "none"]),
        "names": _names,
        "to": st.sampled_from(_WRITTEN),
    }
    chosen = draw(st.fixed_dictionaries({}, optional=options))
    return Case({f"{name}{compression}": compressed(content, compression)}, chosen)


def run(case: Case, folder: Path) -> None:
    """Read rules, print each in the clause language and read it again, and write all in another format."""
    path, *_ = case.write(folder)
    options = dict(case.options)
    to = options.pop("to", None)
    clauses = read_rules(path, **options)
    for clause in clauses[:200]:
        (again,) = parse_clauses(print_clause(clause))
        assert again.formula == clause.formula, "a printed rule is another clause"
    if to is not None:
        written = folder / ("written.ttl" if to == "owl" else "written.txt")
        write_rules(written, clauses, to)
        try:
            read_rules(written, to)
        except ClausalError as error:
            raise AssertionError(f"what was written as {to} cannot be read: {error}") from error


TARGET = Target(_cases(), run, slice=700)
