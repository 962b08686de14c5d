"""Clauses as text: read, printed, read again, checked against a graph, reviewed and made tensors."""

from __future__ import annotations

from pathlib import Path

from hypothesis import strategies as st

from clausal.adversary import group_clauses
from clausal.logic import (
    check_clauses,
    find_conflicts,
    find_cycles,
    find_duplicates,
    find_tautologies,
    parse_clauses,
    print_clause,
)
from fuzzing.cases import Case
from fuzzing.damage import changed, changes, odd_text
from fuzzing.targets import Target
from fuzzing.targets.tables import GRAPH

_quoted = odd_text.map(lambda text: "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'")
_terms = st.one_of(
    st.sampled_from(["X", "Y", "Z", "x", "_", "?v", "anna", "'bob'", '"carl"', "_1", "Ünal", "a.b", "", "1"]), _quoted
)
_relations = st.one_of(st.sampled_from(["knows", "likes", "p", "'q r'", "not", "false", "a:b", "http://e/p"]), _quoted)
_atoms = st.one_of(
    st.builds("{}({}, {})".format, _relations, _terms, _terms),
    st.builds("{}({}, {})".format, st.sampled_from(["knows", "likes"]), st.sampled_from("XYZ"), st.sampled_from("XYZ")),
    st.builds("{}({})".format, _relations, _terms),
    st.sampled_from(["false", "⊥", "p(X, Y, Z)", "p()"]),
)
_infix = st.sampled_from([" & ", ", ", " | ", "; ", " ∧ ", " => ", " <=> ", " :- ", " <- ", " ⇔ ", " || "])
_formulas = st.recursive(
    _atoms,
    lambda inner: st.one_of(
        st.builds("{}{}{}".format, inner, _infix, inner),
        inner.map("({})".format),
        inner.map("not {}".format),
        inner.map("~{}".format),
    ),
    max_leaves=8,
)
_before = st.sampled_from(["", "", "0.5: ", "1e400: ", ".9:: ", ":- ", "% ", "1.1.1: ", "# "])
_after = st.sampled_from(
    ["", "", ".", " <0.5>", " <hard>", " <hard>.", " <-1>", " <1e999>", " <nan>", " % end", " <x y>"]
)
_lines = st.builds("{}{}{}".format, _before, _formulas, _after)
_texts = st.lists(_lines, max_size=5).map("\n".join)


@st.composite
def _cases(draw: st.DrawFn) -> Case:
    text = draw(_texts)
    if draw(st.booleans()):
        text = changed(text.encode(), draw(changes)).decode("utf-8", "replace")
    return Case({"clauses.txt": text.encode()})


def run(case: Case, folder: Path) -> None:
    """Read clauses; what is printed of one is the same clause, and all that looks at clauses can look at it."""
    clauses = parse_clauses(case.files["clauses.txt"].decode())
    for clause in clauses:
        (again,) = parse_clauses(print_clause(clause))
        assert (again.formula, again.weight) == (clause.formula, clause.weight), "a printed clause is another clause"
    for review in (find_conflicts, find_cycles, find_duplicates, find_tautologies):
        review(clauses)
    check_clauses(clauses, GRAPH.entities, GRAPH.relations)
    group_clauses(clauses, GRAPH.entities, GRAPH.relations)


TARGET = Target(_cases(), run, slice=800)
