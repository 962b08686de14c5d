"""The grid search: the paper's points, each trained once whatever happens, and the best chosen on valid alone."""

import json
from dataclasses import replace

import numpy as np
import pytest

from clausal.config import Settings
from clausal.demo import world
from clausal.errors import InputError, RunError
from clausal.training import prepare
from clausal_paper.grid import Journal, axes_of, best, chosen_preset, points, search, searching
from clausal_paper.tables.methods import settings_of
from clausal_paper.tables.rows import TABLES, Row, rows_of

SMALL = ("train.epochs=2", "train.passes=2", "evaluate.every=1")
AXES = {"model.dim": (4, 8), "model.domain": ("cube",), "facts.margin": (1, 2)}


@pytest.fixture(scope="module")
def data():
    return world()


def searched(journal, data, **options):
    return search(rows_of("fb122", ["distmult"]), *data, journal, axes=AXES, changes=SMALL, **options)


def test_the_papers_grid_has_every_combination_and_fewer_axes_where_there_is_less_to_choose():
    sizes = {row.name: len(points(axes_of(row))) for row in TABLES["fb122"]}
    assert sizes["distmult"] == 5 * 2 * 4
    assert sizes["casr-complex"] == 40 * 5
    assert sizes["asr-complex"] == 40 * 5 * 3 * 2
    assert sizes["kale-joint"] == 3 * sizes["transe"]
    for row in TABLES["fb122"]:
        for axis in axes_of(row).items():
            settings_of(row, 0, [f"{axis[0]}={value}" for value in axis[1][:1]])  # every axis is a setting


def test_a_row_with_clauses_is_never_searched_at_weight_0():
    with pytest.raises(InputError, match="weight must not be 0"):
        axes_of(Row("fb122", "asr-complex"), {"clauses.weight": (0, 1)})
    axes_of(Row("fb122", "complex"), {"clauses.weight": (0, 1)})  # not an axis of a row without clauses


def test_every_point_is_trained_once_and_told_as_it_is_trained(tmp_path, data):
    told = []
    entries = searched(Journal(tmp_path / "a" / "journal.jsonl"), data, progress=lambda *seen: told.append(seen))
    assert [entry["point"] for entry in entries] == points(AXES)
    assert [seen[:2] for seen in told] == [(0, 4), (1, 4), (2, 4), (3, 4), (4, 4)]
    settings = settings_of(Row("fb122", "distmult"), 0, [*SMALL, "model.dim=8", "facts.margin=2"])
    training = prepare(data[0], [], settings)
    training.run()
    assert entries[3]["valid_mrr"] == pytest.approx(training.position.best, abs=1e-5)


def test_a_killed_search_goes_on_where_it_was(tmp_path, data, monkeypatch):
    journal = Journal(tmp_path / "journal.jsonl")
    whole = searched(Journal(tmp_path / "whole.jsonl"), data)
    lines = (tmp_path / "whole.jsonl").read_text().splitlines(keepends=True)
    journal.path.write_text(lines[0] + lines[1] + lines[2][:40])  # killed while it wrote
    trained = []
    plain = searching.train_row
    monkeypatch.setattr(
        searching, "train_row", lambda row, *given, **more: trained.append(row) or plain(row, *given, **more)
    )
    entries = searched(journal, data)
    assert len(trained) == 2
    without_time = [{key: value for key, value in entry.items() if key != "seconds"} for entry in entries]
    assert without_time == [{key: value for key, value in entry.items() if key != "seconds"} for entry in whole]
    assert len(journal.read()) == 4
    assert all(json.loads(line) for line in journal.path.read_text().splitlines())


def test_several_processes_find_what_one_finds(tmp_path, data):
    one = searched(Journal(tmp_path / "one.jsonl"), data)
    two = searched(Journal(tmp_path / "two.jsonl"), data, processes=2)
    assert [entry["valid_mrr"] for entry in one] == [entry["valid_mrr"] for entry in two]


def test_other_seeds_and_other_changes_are_other_trainings(tmp_path, data):
    journal = Journal(tmp_path / "journal.jsonl")
    searched(journal, data)
    searched(journal, data, seeds=(0, 1))
    assert len(journal.read()) == 8


def test_a_divergence_is_an_entry_that_is_never_chosen(tmp_path, data, monkeypatch):
    plain = searching.train_row

    def diverging(row, graph, clauses, settings):
        if settings.model.dim == 8:
            raise RunError("diverged")
        return plain(row, graph, clauses, settings)

    monkeypatch.setattr(searching, "train_row", diverging)
    entries = searched(Journal(tmp_path / "journal.jsonl"), data)
    assert [entry.get("error") for entry in entries] == [None, None, "diverged", "diverged"]
    assert best(entries, "distmult")["point"]["model.dim"] == 4
    assert best(entries[2:], "distmult") is None


def test_the_best_has_the_highest_mean_over_seeds():
    entries = [
        {"row": "complex", "point": {"model.dim": dim}, "seed": seed, "valid_mrr": mrr}
        for dim, seed, mrr in [(20, 0, 0.9), (20, 1, 0.1), (50, 0, 0.6), (50, 1, 0.6), (20, 2, 0.1)]
    ]
    assert best(entries, "complex")["point"] == {"model.dim": 50}
    assert best(entries, "distmult") is None


def test_test_facts_are_not_looked_at(tmp_path, data):
    graph, clauses = data
    blind = replace(graph, test=np.empty((0, 3), dtype=np.int32), parts={})
    journal = Journal(tmp_path / "journal.jsonl")
    entries = search(rows_of("fb122", ["distmult"]), blind, clauses, journal, axes=AXES, changes=SMALL)
    assert all(0 < entry["valid_mrr"] < 1 for entry in entries)


def test_a_damaged_journal_is_refused_with_its_line(tmp_path):
    (tmp_path / "journal.jsonl").write_text('{"row": "a"}\nnonsense\n{"row": "b"}\n')
    with pytest.raises(InputError, match=r"journal.jsonl:2: not JSON"):
        Journal(tmp_path / "journal.jsonl").read()


def test_the_chosen_preset_is_the_rows_preset_at_the_point_with_its_comments(tmp_path):
    row = Row("fb122", "asr-complex")
    file = tmp_path / "chosen.toml"
    file.write_text(chosen_preset(row, {"model.dim": 50, "clauses.weight": 100}))
    assert file.read_text().startswith("# FB122: ASR-ComplEx\n")
    assert Settings.load(file) == settings_of(row, 0, ["model.dim=50", "clauses.weight=100"])
