"""``clausal predict``: questions to a run, by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from clausal.choices import BASE_IRI
from clausal.cli.closure import say_left_out
from clausal.cli.describing import DescribeOption, with_described
from clausal.cli.index import IndexOption, with_index
from clausal.cli.inputs import BaseOption, DeviceOption, RdfStarOption, read_clauses
from clausal.cli.output import Format, FormatOption, NamesOption, Row, print_results, print_text, say, shown_names
from clausal.cli.progress import Bars
from clausal.cli.ranking import ConsistentOption, EntailedOption, RankingOption
from clausal.cli.together import asked_run, asks_together, speaks_for_all
from clausal.cli.unknown import UnknownOption, fitting
from clausal.errors import InputError, count

if TYPE_CHECKING:
    from clausal.fusion import FusedExplanation
    from clausal.graph import Graph
    from clausal.graph.display import DisplayNames
    from clausal.graph.query import Query
    from clausal.run import Answer, Explanation, Run


@asks_together
def predict(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Run directory of a finished training.")],
    query: Annotated[
        str | None,
        typer.Argument(
            metavar="[QUERY]",
            help="'relation(subject, ?)', 'relation(?, object)', '?(subject, object)', or one whole fact.",
            show_default=False,
        ),
    ] = None,
    questions: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Instead of QUERY: a file of questions, one a line, answered together."),
    ] = None,
    describe: DescribeOption = None,
    k: Annotated[int, typer.Option("-k", help="How many answers.")] = 10,
    new: Annotated[bool, typer.Option("--new", help="Leave out facts that the graph already has.")] = False,
    explain: Annotated[
        bool,
        typer.Option("--explain", help="Why: a proof by the run's clauses or what is missing; fused, the votes."),
    ] = False,
    ranking: RankingOption = None,
    entailed: EntailedOption = None,
    consistent: ConsistentOption = False,
    clauses: Annotated[
        str | None, typer.Option(metavar="FILE", help="Explain, entail and obey by these clauses, not the run's.")
    ] = None,
    unknown: UnknownOption = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the answers too: .csv, .tsv, .jsonl, .parquet, .nt or .ttl."),
    ] = None,
    base_iri: BaseOption = BASE_IRI,
    rdf_star: RdfStarOption = False,
    index: IndexOption = None,
    device: DeviceOption = "auto",
    names: NamesOption = "short",
    format: FormatOption = Format.table,
) -> None:
    """Answer a question with the best names, their scores, and whether the fact is known."""
    from clausal.graph.rdf_names import check_base
    from clausal.run.answer_files import check_answer_file, write_answers
    from clausal.run.ranking import find_ranking

    if (query is None) == (questions is None):
        raise InputError("give one question, or many in a file: --questions FILE")
    if explain and query is None:
        raise InputError("--explain is for one question; leave out --questions")
    chosen = find_ranking(ranking, None if entailed is None else entailed.value)
    if clauses is not None and chosen != "entailed" and not consistent and not (explain and chosen == "model"):
        raise InputError("--clauses says what to explain answers by; add --explain, --consistent or --ranking entailed")
    if explain and consistent and chosen == "fused":
        raise InputError("--explain says what rules contributed to fused scores; leave out --consistent")
    if explain and chosen == "rules":
        raise InputError("--explain says what rules contributed to the fused ranking; add --ranking fused")
    if out is not None:
        check_answer_file(out, star=rdf_star)
        check_base(base_iri)
    if index is not None and (consistent or describe is not None or chosen in ("rules", "fused")):
        raise InputError(
            "--index is for answers by the model's scores; --consistent, --describe and rules look at all entities: "
            "leave out one"
        )
    with Bars(doing="reading the run") as bars:
        refused = {"consistent": consistent, "explain": explain, "ranking fused": chosen == "fused"}
        loaded = asked_run(run, device, refused | {"index": index, "describe": describe}, bars)
    if index is not None:
        loaded = with_index(loaded, index)
    if describe is not None:
        loaded = with_described(loaded, describe)
    others = None if clauses is None else fitting(clauses, read_clauses(clauses), loaded.graph, unknown)
    # A misspelt name is reported before a closure that may take long.
    texts = {"": query} if query is not None else _read(questions)
    answering, loaded = loaded, _with_texts(loaded, list(texts.values()))
    display = shown_names(loaded.graph, names, format)
    asked = _parsed(texts, loaded.graph)
    if chosen == "entailed":
        with Bars(doing="closing train"):
            closure = answering.closure_under(others)
        say_left_out(closure, display)
    with Bars(doing="answering") as bars:
        answers = answering.predict(
            list(texts.values()), k, new=new, ranking=chosen, clauses=others, consistent=consistent, observer=bars
        )
    explanations: Sequence[Explanation | FusedExplanation] = []
    if explain and query is not None:
        explanations = (
            loaded.explain_votes(query, answers[0]) if chosen == "fused" else loaded.explain(answers[0], clauses=others)
        )
    if out is not None and speaks_for_all():
        every = [answer for some in answers for answer in some]
        write_answers(out, _judged(every, explanations), base=base_iri, star=rdf_star)
        say(f"{count(len(every), 'answer')} written to {out}")
    judged = consistent or chosen == "entailed" or (explain and chosen == "model")
    columns = _columns(answers, verdict=judged)
    payloads = [[{name: getattr(answer, name) for name in columns} for answer in some] for some in answers]
    if explain:
        payloads = [[{**answer, **why.to_json()} for answer, why in zip(payloads[0], explanations, strict=True)]]
    if format is not Format.table:
        _print_for_programs(format, asked if query is None else None, payloads, columns)
    else:
        for question, payload in zip(asked, payloads, strict=True):
            title = display.fact(question) if query is None else query
            _print_table(title, question, payload, display, whole=names == "full")
        if explanations:
            print_text("\n".join(why.text(display) for why in explanations), whole=names == "full")
    for question, some in zip(asked, answers, strict=True):
        if not some:
            which = "" if query is not None else f"{display.fact(question)}: "
            why = "or the clauses forbid it" if consistent else "that could be one"
            say(f"{which}no answers: the graph has every fact {why}")


def _with_texts(run: Run, questions: Sequence[str]) -> Run:
    """Add the entities that questions describe in quotes, and say so: a misspelt name in quotes looks the same."""
    from clausal.graph.query import unknown_texts

    if not run.describes_texts:
        return run
    texts = dict.fromkeys(text for question in questions for text in unknown_texts(question, run.graph))
    for text in texts:
        say(f'note: "{text}" is no entity of the run; it is read as a text that describes one')
    return run.describe({text: text for text in texts}) if texts else run


def _read(path: Path | None) -> dict[str, str]:
    """Read questions by their places, one a line; blank lines and those that begin with % are left out."""
    from clausal.files import read_text

    assert path is not None
    lines = enumerate(read_text(path).split("\n"), 1)
    found = {f"{path}:{place}: ": line for place, line in lines if line.strip() and not line.lstrip().startswith("%")}
    if not found:
        raise InputError(f"{path}: no questions; write one on each line: relation(subject, ?)")
    return found


def _parsed(questions: Mapping[str, str], graph: Graph) -> list[Query]:
    """Parse questions; an error says in which place."""
    from clausal.graph.query import parse_query

    found = []
    for place, question in questions.items():
        try:
            found.append(parse_query(question, graph))
        except InputError as error:
            raise InputError(f"{place}{error}") from None
    return found


def _columns(answers: Sequence[Sequence[Answer]], *, verdict: bool) -> list[str]:
    """Return the fields of answers that are shown."""
    from clausal.run import Answer

    probability = any(answer.probability is not None for some in answers for answer in some)
    shown = {"probability": probability, "verdict": verdict, "confidence": verdict}
    return [name for name in Answer._fields if shown.get(name, True)]


def _print_for_programs(
    format: Format, asked: Sequence[Query] | None, payloads: Sequence[Sequence[Row]], columns: Sequence[str]
) -> None:
    """Print answers as JSON or CSV; those to many questions each with its question."""

    def rows(payload: Sequence[Row]) -> list[Row]:
        return [{name: "" if answer[name] is None else answer[name] for name in columns} for answer in payload]

    if asked is None:
        print_results(format, rows(payloads[0]), payloads[0], columns=columns)
        return
    pairs = list(zip(map(str, asked), payloads, strict=True))
    together = [{"question": question, "answers": list(payload)} for question, payload in pairs]
    every = [{"question": question, **row} for question, payload in pairs for row in rows(payload)]
    print_results(format, every, together, columns=("question", *columns))


def _print_table(title: str, question: Query, payload: Sequence[Row], names: DisplayNames, *, whole: bool) -> None:
    """Print the answers to a question for people."""
    print_results(
        Format.table,
        [_row(answer, names) for answer in payload],
        payload,
        title=title,
        names=("subject", "relation", "object"),
        spare=_spare(question),
        whole=whole,
    )


def _judged(answers: Sequence[Answer], explanations: Sequence[Explanation | FusedExplanation]) -> list[Answer]:
    """Return the answers with the verdicts of their explanations, where they have some."""
    from clausal.run import Explanation

    judged = {one.answer: one for one in explanations if isinstance(one, Explanation)}
    return [
        answer._replace(verdict=judged[answer].verdict, confidence=judged[answer].confidence)
        if answer in judged
        else answer
        for answer in answers
    ]


def _row(answer: Row, names: DisplayNames) -> dict[str, Any]:
    """Return an answer as a row of a table: by display names, with its verdict in words."""
    from clausal.run.prediction import Answer, status

    row = {name: value for name, value in answer.items() if name in Answer._fields}
    row |= {"subject": names.entity(answer["subject"]), "object": names.entity(answer["object"])}
    row |= {"relation": names.relation(answer["relation"]), "split": answer["split"] or ""}
    if "verdict" in row:
        row["status"] = status(row.pop("verdict"), row.pop("confidence"))
    return row


def _spare(query: Query) -> list[str]:
    """Return the columns that a narrow terminal can do without: what the question says, and what ``split`` says."""
    given = {name for name, value in query._asdict().items() if value is not None}
    return ["known", *(given if len(given) < len(query) else ())]
