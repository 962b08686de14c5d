"""``clausal search``: settings for a graph, chosen on its valid facts within a time that the user gives."""

from __future__ import annotations

import itertools
from contextlib import suppress
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

import typer

from clausal.cli.inputs import GRAPH, SplitSeedOption, TestOption, ValidOption, reads_graph
from clausal.cli.output import Format, FormatOption, print_results, say, stderr
from clausal.cli.presets import read_graph_and_settings
from clausal.cli.progress import Bars
from clausal.cli.train import refuse_with_resume
from clausal.cli.unknown import Unknown, UnknownOption
from clausal.errors import InputError, RunError, count
from clausal.presets import BEST

if TYPE_CHECKING:
    from clausal.config import Settings
    from clausal.search import SearchResult, Trial

_SHOWN = 10


@reads_graph
def search(
    graph: Annotated[str | None, GRAPH] = None,
    clauses: Annotated[str | None, typer.Option(help="File of clauses to obey, as for train.")] = None,
    unknown: UnknownOption = None,
    minutes: Annotated[
        float | None, typer.Option(help="End after this time in all; 30 where --trials is not given either.")
    ] = None,
    trials: Annotated[int | None, typer.Option(help="End after this many trials in all.")] = None,
    preset: Annotated[str | None, typer.Option(metavar="NAME", help="Settings to start from; best by default.")] = None,
    set: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY=VALUE", help="One setting for every trial, which is then not searched."),
    ] = None,
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="Folder of the search; searches/GRAPH.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the search in --out.")] = False,
    storage: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="Share the search with other workers: postgresql://HOST/NAME, or sqlite:FILE on one machine. The "
            "password comes from PGPASSWORD or a passfile.",
        ),
    ] = None,
    study: Annotated[
        str | None, typer.Option(metavar="NAME", help="Name of the search in --storage; that of the graph by default.")
    ] = None,
    valid: ValidOption = None,
    test: TestOption = None,
    split_seed: SplitSeedOption = None,
    format: FormatOption = Format.table,
) -> None:
    """Search for the settings that rank the valid facts of a graph best."""
    from clausal.graph.addresses import has_password

    target = _target(graph, out, resume, storage is not None)
    if storage is not None and has_password(storage):
        say("note: other users of this machine can see the password in the command; PGPASSWORD or a passfile hides it")
    try:
        if resume:
            refuse_with_resume(graph=graph, clauses=clauses, preset=preset, set=set, unknown=unknown, study=study)
            found = _resume(target, minutes, trials, storage)
        else:
            found = _search(
                str(graph),
                clauses,
                unknown,
                target,
                preset or BEST,
                set or [],
                minutes,
                trials,
                valid,
                test,
                split_seed,
                storage,
                study,
            )
    except KeyboardInterrupt:
        _show_so_far(target, format)
        raise
    _show(found, format)


def _target(graph: str | None, out: Path | None, resume: bool, shared: bool) -> Path:
    if resume:
        if out is None:
            raise InputError("--resume needs --out DIR: the folder of the search to go on with")
        return out
    if graph is None:
        raise InputError("give a graph to search settings for: a folder, a file, or the name of a data set")
    from clausal.graph.addresses import short_name

    usual = Path("searches") / short_name(graph)
    return out or (_free_folder(usual) if shared else usual)


def _free_folder(usual: Path) -> Path:
    """Return a folder for one worker of many: the usual one, or with a number where others are at work."""
    from clausal.search.directory import SearchDirectory

    for number in itertools.count(1):
        folder = usual if number == 1 else usual.with_name(f"{usual.name}-{number}")
        with suppress(RunError), SearchDirectory(folder).locked():
            return folder
    raise AssertionError("numbers do not end")


def _show_so_far(out: Path, format: Format) -> None:
    from clausal.search import load_search
    from clausal.search.directory import SearchDirectory

    if SearchDirectory(out).begun:
        _show(load_search(out), format)


def _search(
    source: str,
    clause_source: str | None,
    unknown: Unknown | None,
    out: Path,
    preset: str,
    assignments: list[str],
    minutes: float | None,
    trials: int | None,
    valid: float | None,
    test: float | None,
    split_seed: int | None,
    storage: str | None,
    study: str | None,
) -> SearchResult:
    from clausal.search import make_space, search
    from clausal.search.best import largest_dim
    from clausal.search.searching import Limits

    Limits.of(minutes, trials)  # before a large graph is read

    graph, clauses, settings = read_graph_and_settings(
        source,
        clause_source,
        unknown,
        preset,
        None,
        assignments,
        valid=valid,
        test=test,
        split_seed=split_seed,
    )
    fixed = [assignment.partition("=")[0].strip() for assignment in assignments]
    space = make_space(settings, clauses=bool(clauses), fixed=fixed, largest_dim=largest_dim(graph, settings))
    say(f"searching {', '.join(one.name for one in space)} in {out}{_together(storage, study or graph.name)}")
    with _TrialBars() as bars:
        return search(
            graph,
            clauses,
            settings,
            out=out,
            space=space,
            minutes=minutes,
            trials=trials,
            storage=storage,
            study=study,
            observer=bars,
        )


def _together(storage: str | None, study: str) -> str:
    from clausal.graph.addresses import public

    return "" if storage is None else f", a worker of the study '{study}' in {public(storage)}"


def _resume(out: Path, minutes: float | None, trials: int | None, storage: str | None) -> SearchResult:
    from clausal.search import resume_search
    from clausal.search.directory import SearchDirectory

    start = SearchDirectory.open(out).start
    say(f"going on with {out}: {start.graph.summary()}")
    with _TrialBars() as bars:
        return resume_search(out, minutes=minutes, trials=trials, storage=storage, observer=bars)


class _TrialBars(Bars):
    """Shows the training of each trial as a bar, and how it went as a line; without a terminal the line alone."""

    def trial_started(self, number: int, settings: Settings) -> None:
        self.label = f"trial {number}"

    def training_started(self, settings: Settings, clauses: int) -> None:
        if stderr().is_terminal:
            super().training_started(settings, clauses)
        else:
            self.now = f"{self.label}: training"

    def trial_finished(self, found: SearchResult, seconds_left: float | None) -> None:
        self.close()
        last = found.trials[-1]
        best = f"; best {found.best.value:.4f}, trial {found.best.number}" if found.best else ""
        time_left = "" if seconds_left is None else f"; {seconds_left / 60:.1f} min left"
        self.say(f"trial {last.number}: {_outcome(last, found.metric)}{best}{time_left}: {last.describe()}")


def _outcome(trial: Trial, metric: str) -> str:
    if trial.value is None:
        return f"{trial.state}, {trial.error}" if trial.error else trial.state
    note = "" if trial.state == "finished" else f" ({trial.state})"
    return f"valid {metric} {trial.value:.4f}{note}"


def _show(found: SearchResult, format: Format) -> None:
    ranked = found.ranked()
    names = list(dict.fromkeys(name for trial in ranked for name in trial.changes))
    rows = [
        {"trial": trial.number, f"valid {found.metric}": trial.value, "state": trial.state, "epoch": trial.epoch}
        | {"seconds": round(trial.seconds)}
        | {name.partition(".")[2]: _written(trial.changes.get(name)) for name in names}
        for trial in ranked
    ]
    shown = rows if format is Format.csv else rows[:_SHOWN]
    print_results(format, shown, found.to_dict(), title=f"the best of {count(len(rows), 'trial')}, on valid facts")
    if found.importances:
        shares = ", ".join(f"{name} {share:.0%}" for name, share in found.importances.items())
        say(f"what made the difference: {shares}")
    if found.best is None:
        say("no trial came as far as a validation; give more --minutes, and go on with --resume")
        return
    settings = quote(str(found.best_settings))
    if found.run is None:
        say(f"settings of the best trial: {settings}\nits model is with another worker: {found.best.about['worker']}")
        say(f"next: clausal train GRAPH --config {settings}")
        return
    run = quote(str(found.run))
    say(f"settings of the best trial: {settings}\nits model: {run}")
    say(f"next: clausal evaluate {run}\n      clausal train GRAPH --config {settings}")


def _written(value: Any) -> str | None:
    """Keep small numbers readable in a table: three decimals would make 0.0004 a zero."""
    return None if value is None else str(value)
