"""The report of ``clausal clauses``: shapes, measures, unknown names, and what the clauses say about each other."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from clausal.cli.output import Format, print_results, print_table, print_text, stdout
from clausal.errors import count
from clausal.logic.check import describe_problem, find_problems
from clausal.logic.lines import place
from clausal.logic.printer import print_clause
from clausal.logic.review import find_conflicts, find_cycles, find_duplicates, find_tautologies
from clausal.logic.shape import print_shape

if TYPE_CHECKING:
    from clausal.graph import Graph
    from clausal.graph.display import DisplayNames
    from clausal.logic import Clause, Measures

_FEW = 3
_SHOWN = 20  # rows of each part of the table; JSON and CSV have them all


def review(
    source: str,
    format: str,
    clauses: Sequence[Clause],
    graph: Graph | None,
    measured: Sequence[Measures | None],
    names: DisplayNames | None = None,
) -> dict[str, Any]:
    """Return the whole report as it is printed in JSON; parts that need a graph are null without one.

    ``names`` are display names for what people read.
    """
    shapes = [print_shape(clause) for clause in clauses]
    return {
        "file": source,
        "format": format,
        "clauses": len(clauses),
        "counted_in": None if graph is None else {"graph": graph.name, "split": "train", "facts": len(graph.train)},
        "shapes": _shapes(shapes, graph, measured),
        "unknown": None if graph is None else _unknown(clauses, graph),
        "tautologies": [_named(clause, names) for clause in find_tautologies(clauses)],
        "duplicates": [_duplicate(group, names) for group in find_duplicates(clauses)],
        "conflicts": [
            {
                "constraint": _named(conflict.constraint, names),
                "clauses": [_named(clause, names) for clause in conflict.clauses],
            }
            for conflict in find_conflicts(clauses)
        ],
        "cycles": [
            [name if names is None else names.relation(name) for name in cycle] for cycle in find_cycles(clauses)
        ],
        "rules": [
            _row(clause, shape, None if graph is None else measures, graph is not None, names)
            for clause, shape, measures in zip(clauses, shapes, measured, strict=True)
        ],
    }


def print_report(format: Format, report: dict[str, Any], *, all: bool = False) -> None:
    """Print the report: JSON has all of it, CSV a row for each clause, the table the first of each part, or ``all``."""
    if format is not Format.table:
        print_results(format, report["rules"], report)
        return
    console = stdout()
    shown = max(len(report["rules"]), 1) if all else _SHOWN
    print_table(report["shapes"][:_SHOWN], f"{count(report['clauses'], 'clause')} by shape")
    if report["unknown"] is not None:
        wanted = ("clause", "graph_support", "body", "graph_confidence", "pca_confidence", "holds")
        rows = [
            {key.removeprefix("graph_").replace("_", " "): row[key] for key in wanted}
            for row in sorted(report["rules"], key=lambda row: row["body"] is None)[:shown]  # those that fit first
        ]
        counted = report["counted_in"]
        print_table(rows, f"in the {count(counted['facts'], 'train fact')} of {counted['graph']}")
        _print_more(console, report["rules"], shown)
        # An ontology always has names that a graph lacks.
        few = _FEW if report["format"] == "owl" and not all else shown
        _print_list(console, "unknown names", [problem["message"] for problem in report["unknown"]], few)
    else:
        _print_list(console, "clauses", [row["clause"] for row in report["rules"]], shown)
    _print_list(console, "saying nothing: they hold whatever the facts are", report["tautologies"])
    _print_list(
        console,
        "given more than once",
        [f"{' = '.join(group['clauses'])}{_weights(group)}" for group in report["duplicates"]],
    )
    _print_list(
        console,
        "conflicts",
        [f"{'; '.join(conflict['clauses'])} breaks {conflict['constraint']}" for conflict in report["conflicts"]],
    )
    _print_list(console, "relations that depend on themselves", [", ".join(cycle) for cycle in report["cycles"]])


def _shapes(shapes: Sequence[str], graph: Graph | None, measured: Sequence[Measures | None]) -> list[dict[str, Any]]:
    hold: dict[str, list[bool]] = defaultdict(list)
    for shape, measures in zip(shapes, measured, strict=True):
        if measures is not None:
            hold[shape].append(measures.holds)
    rows = [{"shape": shape, "clauses": number} for shape, number in Counter(shapes).most_common()]
    if graph is None:
        return rows
    return [row | {"counted": len(hold[str(row["shape"])]), "hold": sum(hold[str(row["shape"])])} for row in rows]


def _unknown(clauses: Sequence[Clause], graph: Graph) -> list[dict[str, Any]]:
    return [
        {
            "kind": problem.kind,
            "name": problem.name,
            "times": problem.times,
            # Suggestions compare many names, so only those that a table shows are looked for.
            "message": describe_problem(problem, graph.entities, graph.relations) if index < _SHOWN else None,
        }
        for index, problem in enumerate(find_problems(clauses, graph.entities, graph.relations))
    ]


def _duplicate(group: Sequence[Clause], names: DisplayNames | None) -> dict[str, Any]:
    weights = [clause.weight for clause in group]
    return {
        "clauses": [_named(clause, names) for clause in group],
        "weights": weights,
        "contradictory": len(set(weights)) > 1,
    }


def _weights(group: dict[str, Any]) -> str:
    return " (their weights contradict each other)" if group["contradictory"] else ""


def _named(clause: Clause, names: DisplayNames | None) -> str:
    where = place(None, clause.line, None)
    text = print_clause(clause, names)
    return f"{where}: {text}" if where else text


def _row(
    clause: Clause, shape: str, measures: Measures | None, with_graph: bool, names: DisplayNames | None
) -> dict[str, Any]:
    row: dict[str, Any] = {
        "line": clause.line,
        "clause": print_clause(clause, names),
        "shape": shape,
        "weight": clause.weight,
        "confidence": clause.confidence,
        "support": clause.support,
    }
    if with_graph:
        counted = ("support", "body", "confidence", "pca_confidence", "holds")
        taken = {"support": "graph_support", "confidence": "graph_confidence"}  # beside those of the file
        row |= {taken.get(name, name): getattr(measures, name, None) for name in counted}
    return row


def _print_list(console: Any, title: str, lines: Iterable[str | None], shown: int = _SHOWN) -> None:
    lines = list(lines)
    if not lines:
        return
    console.print(f"\n{title}:", style="bold")
    print_text("\n".join(f"  {line or ''}" for line in lines[:shown]))
    _print_more(console, lines, shown)


def _print_more(console: Any, items: Sequence[Any], shown: int) -> None:
    if len(items) > shown:
        console.print(f"  and {len(items) - shown:,} more: --all shows all clauses, --format json everything")
