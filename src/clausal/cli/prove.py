"""``clausal prove``: why a fact follows from a graph by clauses, or what it lacks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from clausal.cli.closure import EngineChoice, MemoryOption, Split, SplitOption, close_with_progress, facts_of
from clausal.cli.inputs import ClausesOption, GraphArgument, read_clauses, read_graph, reads_graph
from clausal.cli.output import Format, FormatOption, NamesOption, print_results, print_text, shown_names
from clausal.cli.unknown import UnknownOption, widened_and_fitting

if TYPE_CHECKING:
    from clausal.graph.display import DisplayNames
    from clausal.graph.query import Fact
    from clausal.logic.proofs import NearSupport, Proof

_CSV_COLUMNS = ("step", "subject", "relation", "object", "clause", "place", "premises")


@reads_graph
def prove(
    graph: GraphArgument,
    fact: Annotated[str, typer.Argument(metavar="FACT", help="'relation(subject, object)'.")],
    clauses: ClausesOption,
    split: SplitOption = Split.train,
    unknown: UnknownOption = None,
    most: Annotated[int, typer.Option(help="How many near supports to show of a fact that does not follow.")] = 5,
    memory: MemoryOption = None,
    names: NamesOption = "short",
    format: FormatOption = Format.table,
) -> None:
    """Prove a fact from a graph by Horn clauses: its shortest proof, or what nearly supports it."""
    from clausal.graph.query import parse_fact
    from clausal.logic.proofs import Prover

    rules = read_clauses(clauses)
    loaded, rules = widened_and_fitting(clauses, rules, read_graph(graph, whole=True), unknown)
    asked = parse_fact(fact, loaded)
    facts = facts_of(loaded, split)
    display = shown_names(loaded, names, format)
    engine = EngineChoice.duckdb
    closure = close_with_progress(loaded, rules, facts, engine=engine, memory=memory, names=display)
    prover = Prover(loaded, rules, closure)
    proof = prover.prove(asked)
    near = [] if proof is not None else prover.near(asked, max(most, 0))
    payload = _payload(asked, proof, near)
    if format is Format.table:
        print_text(_text(asked, split, proof, near, display), whole=names == "full")
    else:
        print_results(format, _rows(payload), payload, columns=_CSV_COLUMNS)
    if proof is None:
        raise typer.Exit(1)


def _payload(fact: Fact, proof: Proof | None, near: list[NearSupport]) -> dict[str, Any]:
    from clausal.logic.proofs import near_to_json, proof_to_json

    return {
        "fact": fact._asdict(),
        "follows": proof is not None,
        "proof": None if proof is None else proof_to_json(proof),
        "near": [near_to_json(one) for one in near],
    }


def _rows(payload: dict[str, Any]) -> list[dict[str, Any]]:
    steps = payload["proof"]["steps"] if payload["follows"] else []
    return [
        {"step": number, **step, "premises": " ".join(map(str, step["premises"]))} for number, step in enumerate(steps)
    ]


def _text(fact: Fact, split: Split, proof: Proof | None, near: list[NearSupport], names: DisplayNames) -> str:
    from clausal.logic.proofs import print_near, print_proof

    if proof is not None:
        return print_proof(proof, names)
    source = "the given facts" if split is Split.all else split.value
    if not near:
        return f"{names.fact(fact)} does not follow from {source}, and no clause nearly supports it"
    first = f"{names.fact(fact)} does not follow from {source}; nearest to it:"
    return "\n".join([first, *(print_near(one, names=names) for one in near)])
