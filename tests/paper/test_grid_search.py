"""The grid search: the paper's points, each trained once whatever happens, and the best chosen on valid alone."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from clausal.config import Settings
from clausal.demo import world
from clausal.errors import InputError, RunError
from clausal.search import FINISHED, PRUNED, Choice, Journal, Trial, grid_points
from clausal.training import prepare
from clausal_paper import grid
from clausal_paper.grid import CLAUSE_AXES, axes_of, best, chosen_preset, search_grid
from clausal_paper.tables.rows import PAPER_TABLES, PaperRow, paper_rows
from clausal_paper.tables.training import settings_of
from recording import Recorder

RESULTS = Path(__file__).parents[2] / "results"
SMALL = ("train.epochs=2", "train.passes=2", "evaluate.every=1")
AXES = {"model.dim": (4, 8), "model.domain": ("cube",), "facts.margin": (1, 2), "train.passes": (2,)}


def points(axes):
    return grid_points([Choice(*axis) for axis in axes.items()])


@pytest.fixture(scope="module")
def data():
    return world()


def searched(journal, data, **options):
    return search_grid(paper_rows("fb122", ["distmult"]), *data, journal, axes=AXES, changes=SMALL, **options)


def test_the_papers_grid_has_every_combination_and_fewer_axes_where_there_is_less_to_choose():
    sizes = {row.name: len(points(axes_of(row))) for row in PAPER_TABLES["fb122"]}
    assert sizes["distmult"] == 5 * 2 * 4 * 2
    assert sizes["casr-complex"] == 80 * 5
    assert sizes["asr-complex"] == 80 * 5 * 3 * 2
    assert sizes["kale-joint"] == 3 * sizes["transe"]
    for row in PAPER_TABLES["fb122"]:
        for axis in axes_of(row).items():
            settings_of(row, 0, [f"{axis[0]}={value}" for value in axis[1][:1]])  # every axis is a setting


def test_a_journal_from_before_passes_were_an_axis_is_still_known(tmp_path, data):
    journal, row = Journal(tmp_path / "grid.jsonl"), paper_rows("fb122", ["distmult"])
    axes = AXES | {"model.dim": (4,), "facts.margin": (1,), "train.passes": (10,)}
    search_grid(row, *data, journal, axes=axes, changes=("train.epochs=1",))
    older = journal.path.read_text().replace(', "train.passes": 10', "")
    assert older != journal.path.read_text()
    journal.path.write_text(older)
    search_grid(row, *data, journal, axes=axes, changes=("train.epochs=1",))
    assert journal.path.read_text() == older


def test_a_row_with_clauses_is_never_searched_at_weight_0():
    with pytest.raises(InputError, match="weight must not be 0"):
        axes_of(PaperRow("fb122", "asr-complex"), {"clauses.weight": (0, 1)})
    axes_of(PaperRow("fb122", "complex"), {"clauses.weight": (0, 1)})  # not an axis of a row without clauses


def test_every_point_is_trained_once_and_told_as_it_is_trained(tmp_path, data):
    told = Recorder()
    trials = searched(Journal(tmp_path / "a" / "journal.jsonl"), data, observer=told)
    assert [trial.changes for trial in trials] == points(AXES)
    assert [(done, total) for _, done, total, _ in told.of("advanced")] == [(0, 4), (1, 4), (2, 4), (3, 4), (4, 4)]
    last = "4 of 4: distmult model.dim=8 model.domain=cube facts.margin=2 train.passes=2: 0."
    assert told.of("message")[3][0].startswith(last)
    settings = settings_of(PaperRow("fb122", "distmult"), 0, [*SMALL, "model.dim=8", "facts.margin=2"])
    training = prepare(data[0], [], settings)
    training.run()
    assert trials[3].value == pytest.approx(training.position.best, abs=1e-5)


def test_a_killed_search_goes_on_where_it_was(tmp_path, data, monkeypatch):
    journal = Journal(tmp_path / "journal.jsonl")
    whole = searched(Journal(tmp_path / "whole.jsonl"), data)
    lines = (tmp_path / "whole.jsonl").read_text().splitlines(keepends=True)
    journal.path.write_text(lines[0] + lines[1] + lines[2][:40])  # killed while it wrote
    trained = []
    plain = grid.train_row
    monkeypatch.setattr(
        grid, "train_row", lambda row, *given, **more: trained.append(row) or plain(row, *given, **more)
    )
    trials = searched(journal, data)
    assert len(trained) == 2
    assert [replace(trial, seconds=0) for trial in trials] == [replace(trial, seconds=0) for trial in whole]
    assert len(journal.read()) == 4
    assert all(json.loads(line) for line in journal.path.read_text().splitlines())


def test_several_processes_find_what_one_finds(tmp_path, data):
    one = searched(Journal(tmp_path / "one.jsonl"), data)
    two = searched(Journal(tmp_path / "two.jsonl"), data, processes=2)
    assert [trial.value for trial in one] == [trial.value for trial in two]


def test_other_seeds_and_other_changes_are_other_trainings(tmp_path, data):
    journal = Journal(tmp_path / "journal.jsonl")
    searched(journal, data)
    searched(journal, data, seeds=(0, 1))
    assert len(journal.read()) == 8


def test_a_divergence_is_an_entry_that_is_never_chosen(tmp_path, data, monkeypatch):
    plain = grid.train_row

    def diverging(row, graph, clauses, settings, **more):
        if settings.model.dim == 8:
            raise RunError("diverged")
        return plain(row, graph, clauses, settings, **more)

    monkeypatch.setattr(grid, "train_row", diverging)
    trials = searched(Journal(tmp_path / "journal.jsonl"), data)
    assert [trial.error for trial in trials] == [None, None, "diverged", "diverged"]
    assert best(trials, "distmult").changes["model.dim"] == 4
    assert best(trials[2:], "distmult") is None


def test_the_best_has_the_highest_mean_over_seeds_of_the_points_with_the_most():
    trials = [
        Trial(0, FINISHED, mrr, 1, 0.0, {"model.dim": dim}, about={"row": "complex", "seed": seed})
        for dim, seed, mrr in [(20, 0, 0.9), (20, 1, 0.1), (50, 0, 0.6), (50, 1, 0.6), (100, 0, 0.8)]
    ]
    assert best(trials, "complex").changes == {"model.dim": 50}
    assert best(trials, "distmult") is None


AXES_AT_BEST = {"model.dim": 8, "model.domain": "cube", "facts.margin": 5, "train.passes": 2}


class Trained:
    """Stands in for a training: best at dim 8 and margin 5, worse by the places on both axes away from there."""

    best_epoch = 2

    def __init__(self, settings):
        places = (4, 8, 16, 32).index(settings.model.dim), (1, 2, 5, 10).index(settings.facts.margin)
        self.valid_mrr = 0.9 - 0.1 * (abs(places[0] - 1) + abs(places[1] - 2))


def test_with_minutes_points_are_taken_at_random_and_beside_the_best_and_none_begins_after_them(
    tmp_path, data, monkeypatch
):
    clock = [0.0]

    def train(row, graph, clauses, settings, **more):
        clock[0] += 60
        return Trained(settings)

    monkeypatch.setattr(grid, "train_row", train)
    monkeypatch.setattr(grid.time, "monotonic", lambda: clock[0])
    axes = AXES | {"model.dim": (4, 8, 16, 32), "facts.margin": (1, 2, 5, 10)}
    options = {"axes": axes, "minutes": 9.5}
    row, journal = paper_rows("fb122", ["distmult"]), Journal(tmp_path / "journal.jsonl")
    found = search_grid(row, *data, journal, **options)
    assert len(found) == len(journal.read()) == 10
    in_turn = journal.read()
    for place in range(1, 10, 2):  # every second one is beside what was best before it, or the best that had such left
        before = in_turn[:place]
        assert any(beside(in_turn[place].changes, trial.changes) for trial in before)
    assert best(found, "distmult").changes == AXES_AT_BEST
    assert len(search_grid(row, *data, journal, **options)) == 16  # the rest, and it ends
    assert len(journal.read()) == 16


def test_only_the_best_points_are_trained_with_further_seeds(tmp_path, data, monkeypatch):
    seen = []

    def train(row, graph, clauses, settings, **more):
        seen.append((settings.model.dim, settings.facts.margin, settings.train.seed))
        return Trained(settings)

    monkeypatch.setattr(grid, "train_row", train)
    axes = AXES | {"model.dim": (4, 8), "facts.margin": (2, 5)}
    row, journal = paper_rows("fb122", ["distmult"]), Journal(tmp_path / "journal.jsonl")
    trials = search_grid(row, *data, journal, axes=axes, seeds=(0, 1, 2), top=1)
    assert sorted(seen) == [(4, 2, 0), (4, 5, 0), (8, 2, 0), (8, 5, 0), (8, 5, 1), (8, 5, 2)]
    assert len(trials) == 6
    assert best(trials, "distmult").changes == AXES_AT_BEST


def beside(one, other):
    axes = {"model.dim": (4, 8, 16, 32), "facts.margin": (1, 2, 5, 10)}
    return sum(abs(values.index(one[name]) - values.index(other[name])) for name, values in axes.items()) == 1


def test_a_training_far_below_the_best_of_its_row_is_ended_and_never_chosen(tmp_path, data, monkeypatch):
    monkeypatch.setattr(grid, "_JUDGED", 1)
    journal = Journal(tmp_path / "journal.jsonl")
    whole = searched(Journal(tmp_path / "whole.jsonl"), data)
    values = [trial.value for trial in whole]
    trials = searched(journal, data, prune=0.0)
    assert PRUNED in {trial.state for trial in trials}
    for place, trial in enumerate(trials):
        assert (trial.state == FINISHED and trial.value == values[place]) or trial.value <= max(values[:place])
        assert trial.epoch == 1 or trial.state == FINISHED
    assert best(trials, "distmult").state == FINISHED


def test_test_facts_are_not_looked_at(tmp_path, data):
    graph, clauses = data
    blind = replace(graph, test=np.empty((0, 3), dtype=np.int32), parts={})
    journal = Journal(tmp_path / "journal.jsonl")
    trials = search_grid(paper_rows("fb122", ["distmult"]), blind, clauses, journal, axes=AXES, changes=SMALL)
    assert all(0 < trial.value < 1 for trial in trials)


def in_the_scripts(trial):
    """Tell whether a trial has no more sets than theirs; more were tried too."""
    return trial.changes.get("clauses.sets", 1) <= max(CLAUSE_AXES["clauses.sets"])


@pytest.mark.parametrize("table", PAPER_TABLES)
def test_presets_are_the_best_points_of_the_journals_that_they_were_chosen_by(table):
    trials = Journal(RESULTS / f"grid-{table}.jsonl").read()
    trials = [trial for trial in trials if in_the_scripts(trial)]
    rows = paper_rows(table, {trial.about["row"] for trial in trials})
    assert rows
    for row in rows:
        chosen = best(trials, row.name)
        assert settings_of(row) == settings_of(row, 0, [f"{name}={value}" for name, value in chosen.changes.items()])


def test_the_chosen_preset_is_the_rows_preset_at_the_point_with_its_comments(tmp_path):
    row = PaperRow("fb122", "asr-complex")
    file = tmp_path / "chosen.toml"
    file.write_text(chosen_preset(row, {"model.dim": 50, "clauses.weight": 100}))
    assert file.read_text().startswith("# FB122: ASR-ComplEx\n")
    assert Settings.load(file) == settings_of(row, 0, ["model.dim=50", "clauses.weight=100", "evaluate.keep=best"])
