"""``clausal train``: a graph and clauses in, a run directory out."""

from __future__ import annotations

import json
from itertools import count
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

import typer

from clausal.cli.clause_use import advice, say_votes, show_clauses
from clausal.cli.inputs import GRAPH, SplitSeedOption, TestOption, ValidOption, reads_graph
from clausal.cli.output import Format, FormatOption, NamesOption, print_results, say, shown_names
from clausal.cli.presets import given_settings, read_graph_and_settings
from clausal.cli.progress import Bars
from clausal.cli.unknown import Unknown, UnknownOption
from clausal.errors import InputError
from clausal.errors import count as number
from clausal.files import check_new_folder
from clausal.presets import BEST

if TYPE_CHECKING:
    from clausal.config import Settings
    from clausal.logic import Clause
    from clausal.run import Run


@reads_graph
def train(
    graph: Annotated[str | None, GRAPH] = None,
    clauses: Annotated[
        str | None,
        typer.Option(
            help="File of clauses to obey, or of rules in any known format; or a data set's name for those that come "
            "with it (fb122-simple)."
        ),
    ] = None,
    unknown: UnknownOption = None,
    text: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Names and texts that describe entities, so that unseen ones can be asked about; 'literals' takes the "
            "labels and comments of RDF.",
        ),
    ] = None,
    vectors: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Vectors that describe entities: word2vec text, .parquet, .npy, .safetensors."
        ),
    ] = None,
    preset: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Settings that come with clausal: best, or such as fb122-asr-complex; before --config."
        ),
    ] = None,
    config: Annotated[Path | None, typer.Option(help="Settings in TOML.")] = None,
    set: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY=VALUE", help="One setting, such as model.dim=200; can be repeated."),
    ] = None,
    start: Annotated[
        Path | None,
        typer.Option(
            "--from",
            metavar="RUN",
            help="Start with the vectors of a run on an earlier state of the graph, by name; its settings and clauses "
            "hold unless you give others, with a fifth of its epochs.",
        ),
    ] = None,
    fast: Annotated[
        bool,
        typer.Option("--fast", help="With --preset best: the settings of its rule, without race and votes."),
    ] = False,
    out: Annotated[Path | None, typer.Option(help="Run directory to write; runs/GRAPH-SCORER-N by default.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with an unfinished run in --out.")] = False,
    valid: ValidOption = None,
    test: TestOption = None,
    split_seed: SplitSeedOption = None,
    names: NamesOption = "short",
    format: FormatOption = Format.table,
) -> None:
    """Train a link predictor on facts so that it obeys clauses."""
    if resume:
        refuse_with_resume(
            graph=graph,
            clauses=clauses,
            text=text,
            vectors=vectors,
            preset=preset,
            config=config,
            set=set,
            fast=fast,
            unknown=unknown,
            **{"from": start},
        )
        run = _resume(out)
    else:
        if fast and preset != BEST:
            raise InputError(f"--fast is for --preset {BEST}: it skips its race")
        if start is not None and preset is not None:
            raise InputError("--from takes the settings of its run; leave out --preset, and change settings by --set")
        race = preset == BEST and not fast
        changes = [*(set or []), *_descriptions(text, vectors)]
        run = _train(graph, clauses, unknown, preset, config, changes, out, valid, test, split_seed, race, start)
    try:
        outcome, split, rows = _outcome(run)
    except (KeyError, TypeError, ValueError, AttributeError):  # a resumed run can have finished long ago
        raise InputError(f"{run.path}/metrics.json: damaged: it does not hold what a training measures") from None
    say(outcome)
    if rows or format is not Format.table:
        print_results(format, rows, run.metrics, title=f"{split} facts, filtered ranking")
    if format is Format.table:
        show_clauses(run, shown_names(run.graph, names, format))
    if run.is_fused:
        say_votes(run.fusion)
    path, query = quote(str(run.path)), quote(_example_query(run))
    say(f"next: clausal evaluate {path}\n      clausal predict {path} {query}")
    say(advice(run))


def _train(
    source: str | None,
    clause_source: str | None,
    unknown: Unknown | None,
    preset: str | None,
    config: Path | None,
    assignments: list[str],
    out: Path | None,
    valid: float | None,
    test: float | None,
    split_seed: int | None,
    race: bool,
    start: Path | None,
) -> Run:
    if source is None:
        raise InputError("give a graph to train on: a folder, a file, or the name of a data set")
    if out is not None:
        check_new_folder(out, "choose another --out, or go on with an unfinished run by --resume")
    earlier: Run | None = None
    begin: Any = preset
    if start is not None:
        earlier, begin = _read_start(start)
        if clause_source is None and earlier.clauses:
            clause_source = str(start / "clauses.txt")
    graph, clauses, settings = read_graph_and_settings(
        source,
        clause_source,
        unknown,
        begin,
        config,
        assignments,
        valid=valid,
        test=test,
        split_seed=split_seed,
    )

    target = out or _free_directory(f"{graph.name}-{settings.model.scorer}")
    if out is None:
        say(f"run directory {target}")
    if race:
        if settings.descriptions.given:
            raise InputError(f"--preset {BEST} races for the settings of models without descriptions; add --fast")
        from clausal.search import train_best

        fixed = given_settings(config, assignments)
        with Bars() as bars:
            return train_best(graph, clauses, settings, out=target, fixed=fixed, observer=bars)
    from clausal.run import train as train_in

    _say_plan(clauses, settings)
    with Bars(doing="preparing") as bars:
        return train_in(graph, clauses, settings, out=target, start=earlier, observer=bars)


def _read_start(path: Path) -> tuple[Run, dict[str, dict[str, Any]]]:
    """Return the run to start from, and its settings with a fifth of its epochs."""
    from clausal.run import load

    run = load(path)
    values = run.settings.model_dump(mode="json", exclude_none=True)
    values["train"]["epochs"] = -(-run.settings.train.epochs // 5)
    say(f"starting from {path}: {number(values['train']['epochs'], 'epoch')}, a fifth of its own, unless set otherwise")
    return run, values


def _descriptions(text: str | None, vectors: str | None) -> list[str]:
    """Return the settings that say what describes entities."""
    given = {"descriptions.text": text, "descriptions.vectors": vectors}
    return [f"{name}={json.dumps(path, ensure_ascii=False)}" for name, path in given.items() if path is not None]


def _resume(out: Path | None) -> Run:
    from clausal.run.directory import RunDirectory
    from clausal.search import resume_best

    if out is None:
        raise InputError("--resume needs --out RUN: the directory of the run to go on with")
    directory = RunDirectory.open(out)
    if directory.finished:
        say(f"{out}: this training has finished already")
    else:
        say(f"resuming {out}: {directory.graph.summary()}")
    with Bars() as bars:
        return resume_best(out, observer=bars)


def _say_plan(clauses: list[Clause], settings: Settings) -> None:
    """Say what will be trained."""
    model, about = settings.model, settings.clauses
    say(f"{model.scorer}, dim {model.dim}, domain {model.domain}, seed {settings.train.seed}")
    if not clauses:
        return
    from clausal.logic.review import find_tautologies

    for clause in find_tautologies(clauses):
        say(f"note: '{clause}' says nothing: it holds whatever the facts are")
    if about.adversary == "none":
        are = "is" if len(clauses) == 1 else "are"
        say(f"{number(len(clauses), 'clause')} {are} checked but not used: clauses.adversary is none")
    else:
        say(f"{number(len(clauses), 'clause')}, adversary {about.adversary}, weight {about.weight}")


def _outcome(run: Run) -> tuple[str, str, list[dict[str, Any]]]:
    """Return how the training went in words, the split that it was measured on, and the rows of that."""
    from clausal.cli.output import evaluation_rows

    training = run.metrics["training"]
    kept = f"epoch {training['best_epoch']} of {training['epochs']}"
    early = ", stopped early" if training["stopped_early"] else ""
    split = "test" if "test" in run.metrics else "valid"
    rows = evaluation_rows(run.metrics[split]) if split in run.metrics else []
    how = f"trained in {training['seconds']:.1f} s by the {training['step']} step{early}"
    return f"{how}; kept the model of {kept} in {run.path}", split, rows


def _free_directory(name: str) -> Path:
    return next(path for number in count(1) if not (path := Path("runs") / f"{name}-{number}").exists())


def _example_query(run: Run) -> str:
    facts = run.graph.test if len(run.graph.test) else run.graph.train
    subject, relation, _ = facts[0]
    names = run.graph.display
    return f"{names.relation(run.graph.relations[relation])}({names.entity(run.graph.entities[subject])}, ?)"


def refuse_with_resume(**given: object) -> None:
    """Refuse what a run or a search that is gone on with already has."""
    for name, value in given.items():
        if value:
            option = "GRAPH" if name == "graph" else f"--{name}"
            raise InputError(
                f"{option} cannot be given with --resume: the graph, the clauses and the settings stay as they are"
            )
