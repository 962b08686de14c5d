"""Presets: settings that come with the package, on which files and assignments build."""

import pytest

from clausal.config import Settings
from clausal.errors import InputError
from clausal.presets import preset_names, read_preset


@pytest.mark.parametrize("name", preset_names())
def test_every_preset_is_settings(name):
    settings = Settings.load(preset=name)
    assert settings == Settings.from_mapping(read_preset(name))
    assert settings != Settings()


def test_a_file_changes_single_keys_of_a_preset_and_assignments_come_last(tmp_path):
    file = tmp_path / "settings.toml"
    file.write_text("[facts]\nmargin = 7\n[train]\nseed = 3\nepochs = 5\n")
    preset = Settings.load(preset="fb122-asr-complex")
    settings = Settings.load(file, ["train.epochs=9"], preset="fb122-asr-complex")
    assert (settings.facts.margin, settings.train.seed, settings.train.epochs) == (7, 3, 9)
    assert settings.model == preset.model
    assert settings.clauses == preset.clauses
    assert settings.facts.batches == preset.facts.batches


def test_an_unknown_preset_is_answered_with_the_nearest_and_all_names():
    with pytest.raises(InputError, match="did you mean 'fb122-asr-complex'") as error:
        Settings.load(preset="fb122-asr-complx")
    assert all(name in str(error.value) for name in preset_names())


def test_the_preset_that_is_computed_says_by_what():
    with pytest.raises(InputError, match=r"best_settings\(graph, clauses\)"):
        Settings.load(preset="best")


@pytest.mark.parametrize(
    ("change", "advice"),
    [("model.scorer=transe", 'regulariser.*set it to "none"'), ("model.scorer=rescal", "relation_weight.*set it to 0")],
)
def test_a_scorer_that_a_preset_does_not_suit_is_answered_with_what_to_set(change, advice):
    with pytest.raises(InputError, match=advice):
        Settings.load(None, [change], preset="fb15k-237-best")


def test_a_bad_value_names_the_preset_and_where_it_came_from():
    with pytest.raises(InputError, match=r"preset wn18-complex with --set: model.dim"):
        Settings.load(None, ["model.dim=none"], preset="wn18-complex")
