"""``clausal train``: a graph and clauses in, a run directory out."""

from __future__ import annotations

import json
from dataclasses import dataclass
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
from clausal.cli.together import (
    ProcessesOption,
    SilenceOption,
    TrustOption,
    WaitOption,
    is_one_of_several,
    refuse_together,
    settings_told,
    train_in_several,
)
from clausal.cli.unknown import Unknown, UnknownOption
from clausal.errors import InputError
from clausal.errors import count as number
from clausal.files import check_new_folder
from clausal.presets import BEST

if TYPE_CHECKING:
    from clausal.config import Settings
    from clausal.graph import Graph
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
    processes: ProcessesOption = None,
    wait: WaitOption = 60.0,
    silence: SilenceOption = 25.0,
    trust_network: TrustOption = False,
    valid: ValidOption = None,
    test: TestOption = None,
    split_seed: SplitSeedOption = None,
    names: NamesOption = "short",
    format: FormatOption = Format.table,
) -> None:
    """Train a link predictor on facts so that it obeys clauses."""
    changes = [*(set or []), *_descriptions(text, vectors)]
    race = preset == BEST and not fast
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
        if out is None:
            raise InputError("--resume needs --out RUN: the directory of the run to go on with")
    else:
        if fast and preset != BEST:
            raise InputError(f"--fast is for --preset {BEST}: it skips its race")
        if start is not None and preset is not None:
            raise InputError("--from takes the settings of its run; leave out --preset, and change settings by --set")
    inputs = _Inputs(graph, clauses, unknown, preset, config, changes, out, valid, test, split_seed, start)
    if is_one_of_several(processes):
        refuse_together(**{f"preset {BEST} without --fast": race, "from": start, "text": text, "vectors": vectors})
        resumed = out if resume else None
        told = settings_told(preset, config, changes, resumed)  # which are checked before anybody is waited for
        _say_end(train_in_several(inputs.begin, resumed, inputs.told(), told, wait, silence, trust_network), format)
        return
    run = _resume(out) if resume and out is not None else _train(inputs, race)
    _say_outcome(run.metrics, run.path, format)
    if format is Format.table:
        show_clauses(run, shown_names(run.graph, names, format))
    if run.is_fused:
        say_votes(run.fusion)
    assert run.path is not None
    _say_next(run.path, run.graph)
    for line in advice(run):
        say(line)


@dataclass(frozen=True)
class _Inputs:
    """What a training was told to begin with."""

    graph: str | None
    clauses: str | None
    unknown: Unknown | None
    preset: str | None
    config: Path | None
    assignments: list[str]
    out: Path | None
    valid: float | None
    test: float | None
    split_seed: int | None
    start: Path | None

    def read(self) -> tuple[Graph, list[Clause], Settings, Path, Run | None]:
        """Read the graph, the clauses and the settings; return also the run directory, and the run to start from."""
        if self.graph is None:
            raise InputError("give a graph to train on: a folder, a file, or the name of a data set")
        if self.out is not None:
            check_new_folder(self.out, "choose another --out, or go on with an unfinished run by --resume")
        earlier: Run | None = None
        begin: Any = self.preset
        clause_source = self.clauses
        if self.start is not None:
            earlier, begin = _read_start(self.start)
            if clause_source is None and earlier.clauses:
                clause_source = str(self.start / "clauses.txt")
        graph, clauses, settings = read_graph_and_settings(
            self.graph,
            clause_source,
            self.unknown,
            begin,
            self.config,
            self.assignments,
            valid=self.valid,
            test=self.test,
            split_seed=self.split_seed,
        )
        target = self.out or _free_directory(f"{graph.name}-{settings.model.scorer}")
        if self.out is None:
            say(f"run directory {target}")
        return graph, clauses, settings, target, earlier

    def begin(self) -> Path:
        """Read all of it, and make the run directory that several processes train in."""
        from clausal.run.training import begin_together

        graph, clauses, settings, target, _ = self.read()
        _say_plan(clauses, settings)
        return begin_together(target, graph, clauses, settings)

    def told(self) -> dict[str, object]:
        """Return what is no setting, by the names of options."""
        return {
            "graph": self.graph,
            "--clauses": self.clauses,
            "--unknown": self.unknown,
            "--preset": self.preset,
            "--out": self.out,
            "--valid": self.valid,
            "--test": self.test,
            "--split-seed": self.split_seed,
        }


def _train(inputs: _Inputs, race: bool) -> Run:
    graph, clauses, settings, target, earlier = inputs.read()
    if race:
        if settings.descriptions.given:
            raise InputError(f"--preset {BEST} races for the settings of models without descriptions; add --fast")
        from clausal.search import train_best

        fixed = given_settings(inputs.config, inputs.assignments)
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


def _resume(out: Path) -> Run:
    from clausal.run.directory import RunDirectory
    from clausal.search import resume_best

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


def _say_outcome(metrics: dict[str, Any], path: Path | None, format: Format) -> None:
    """Say how the training went, and print what it measured."""
    try:
        outcome, split, rows = _outcome(metrics, path)
    except (KeyError, TypeError, ValueError, AttributeError):  # a resumed run can have finished long ago
        raise InputError(f"{path}/metrics.json: damaged: it does not hold what a training measures") from None
    say(outcome)
    if rows or format is not Format.table:
        print_results(format, rows, metrics, title=f"{split} facts, filtered ranking")


def _say_next(path: Path, graph: Graph) -> None:
    shown, query = quote(str(path)), quote(_example_query(graph))
    say(f"next: clausal evaluate {shown}\n      clausal predict {shown} {query}")


def _say_end(path: Path | None, format: Format) -> None:
    """Say how the training of several processes went, in the first of them, without loading the model."""
    if path is None:
        return
    from clausal.run.directory import RunDirectory

    directory = RunDirectory.open(path)
    _say_outcome(directory.metrics, path, format)
    _say_next(path, directory.graph)


def _outcome(metrics: dict[str, Any], path: Path | None) -> tuple[str, str, list[dict[str, Any]]]:
    """Return how the training went in words, the split that it was measured on, and the rows of that."""
    from clausal.cli.output import evaluation_rows

    training = metrics["training"]
    kept = f"epoch {training['best_epoch']} of {training['epochs']}"
    early = ", stopped early" if training["stopped_early"] else ""
    split = "test" if "test" in metrics else "valid"
    rows = evaluation_rows(metrics[split]) if split in metrics else []
    how = f"trained in {training['seconds']:.1f} s by the {training['step']} step{early}"
    return f"{how}; kept the model of {kept} in {path}", split, rows


def _free_directory(name: str) -> Path:
    return next(path for number in count(1) if not (path := Path("runs") / f"{name}-{number}").exists())


def _example_query(graph: Graph) -> str:
    facts = graph.test if len(graph.test) else graph.train
    subject, relation, _ = facts[0]
    names = graph.display
    return f"{names.relation(graph.relations[relation])}({names.entity(graph.entities[subject])}, ?)"


def refuse_with_resume(**given: object) -> None:
    """Refuse what a run or a search that is gone on with already has."""
    for name, value in given.items():
        if value:
            option = "GRAPH" if name == "graph" else f"--{name}"
            raise InputError(
                f"{option} cannot be given with --resume: the graph, the clauses and the settings stay as they are"
            )
