"""Settings: defaults, TOML, assignments, refusals, and the reference page made from them."""

import runpy
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import get_args

import pytest

from clausal import InputError, Settings
from clausal.adversary import SEMANTICS
from clausal.choices import SCORERS, Filter, RegionName, ScorerName, SemanticsName, Ties
from clausal.model import SCORERS as CLASSES
from clausal.model import MultilinearScorer
from clausal.model.scorers import ModelF
from command_line import clausal

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "reference" / "settings.md"
SECTIONS = {name: field.annotation for name, field in Settings.model_fields.items()}
KEYS = [(section, key) for section, kind in SECTIONS.items() for key in kind.model_fields]


def test_defaults_are_valid_when_they_are_checked():
    assert Settings.from_mapping(Settings().model_dump()) == Settings()


@pytest.mark.parametrize(("section", "key"), KEYS)
def test_every_setting_is_described_and_on_the_reference_page(section, key):
    description = SECTIONS[section].model_fields[key].description
    assert description
    _, _, rest = PAGE.read_text(encoding="utf-8").partition(f"## [{section}]")
    rows = rest.partition("## [")[0].splitlines()
    assert any(row.startswith(f"| `{key}` |") and row.endswith(f"| {description} |") for row in rows)


def test_reference_page_is_up_to_date():
    settings_page = runpy.run_path(str(ROOT / "tools" / "settings_page.py"))["settings_page"]
    assert PAGE.read_text(encoding="utf-8") == settings_page(), "run make docs"


def test_toml_round_trip_keeps_every_setting(tmp_path):
    settings = Settings.from_mapping(
        {
            "model": {
                "scorer": "er-mlp",
                "domain": "box",
                "box": [-2, 0.5],
                "hidden": [7, 3],
                "pretrained": 'a "b".npy',
            },
            "facts": {"batch_size": 17, "filtered": True},
            "clauses": {"weight": 1e-7},
            "train": {"seed": 2**40},
        }
    )
    path = tmp_path / "settings.toml"
    path.write_text(settings.to_toml(), encoding="utf-8")
    assert Settings.load(path) == settings
    assert tomllib.loads(settings.to_toml())["model"]["hidden"] == [7, 3]


@pytest.mark.parametrize(
    ("assignment", "value"),
    [
        ("model.dim=200", 200),
        (" model.dim = 200 ", 200),
        ("train.learning_rate=1e-3", 0.001),
        ("train.learning_rate=1", 1.0),
        ("model.scorer=transe", "transe"),
        ('model.scorer="transe"', "transe"),
        ("facts.filtered=true", True),
        ("model.box=[-3, 3]", (-3.0, 3.0)),
        ("model.hidden=[10, 20]", (10, 20)),
        ("model.pretrained=vectors/a=b.npy", "vectors/a=b.npy"),
        ("clauses.adversary=closed-form", "closed-form"),
    ],
)
def test_assignments_are_read_as_toml_values_or_words(assignment, value):
    settings = Settings.load(assignments=[assignment])
    section, _, key = assignment.partition("=")[0].strip().partition(".")
    found = getattr(getattr(settings, section), key)
    assert found == value
    assert type(found) is type(value)


def test_assignments_come_after_the_file_and_the_last_one_counts(tmp_path):
    path = tmp_path / "settings.toml"
    path.write_text("[model]\ndim = 10\nscorer = 'transe'\n")
    settings = Settings.load(path, ["model.dim=20", "model.dim=30"])
    assert (settings.model.dim, settings.model.scorer) == (30, "transe")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"model": {"dimm": 3}}, "unknown setting 'model.dimm'; did you mean 'dim'?"),
        ({"modle": {}}, "unknown section 'modle'; did you mean 'model'?"),
        ({"model": {"dim": 0}}, "model.dim: input should be greater than 0; got 0"),
        ({"model": {"dim": 2.5}}, "model.dim: "),
        ({"model": {"dim": "many"}}, "got 'many'"),
        ({"model": {"scorer": "foo"}}, "'distmult', 'complex'"),
        ({"model": {"dim": 7}}, "model.dim: complex needs an even number"),
        ({"model": {"box": [1, -1]}}, "model.box: the lower bound 1.0 must be below"),
        ({"model": {"encoder": "frozen"}}, 'model.pretrained: encoder = "frozen" needs a file of vectors'),
        ({"model": 3}, "model: "),
        ({"train": {"learning_rate": float("nan")}}, "train.learning_rate: "),
        ({"train": {"seed": -1}}, "train.seed: "),
        ({"evaluate": {"metric": "mr"}}, "evaluate.metric: "),
    ],
)
def test_impossible_values_are_refused_by_name(values, message):
    with pytest.raises(InputError) as error:
        Settings.from_mapping(values, "here.toml")
    assert str(error.value).startswith("here.toml: ")
    assert message in str(error.value)


@pytest.mark.parametrize("assignment", ["dim=3", "model.dim", "=3", "model.=3", ".dim=3"])
def test_an_assignment_without_section_key_or_value_is_refused(assignment):
    with pytest.raises(InputError, match="expected section"):
        Settings.load(assignments=[assignment])


def test_a_value_nested_beyond_reason_is_refused(tmp_path):
    with pytest.raises(InputError):
        Settings.load(assignments=["model.dim=" + "[" * 100_000])
    path = tmp_path / "deep.toml"
    path.write_text("[model]\ndim = " + "[" * 100_000)
    with pytest.raises(InputError, match="deep"):
        Settings.load(path)


DIGITS = "9" * 5000  # more than Python reads as a number


@pytest.mark.parametrize("key", ["model.dim", "clauses.steps", "train.seed", "evaluate.every", "train.learning_rate"])
@pytest.mark.parametrize(
    "digits", [DIGITS, f"-{DIGITS}", "0x" + "f" * 5000, f"[{DIGITS}]", "1" + "0" * 4000], ids=range(5)
)
def test_integers_of_thousands_of_digits_are_refused(key, digits, tmp_path):
    with pytest.raises(InputError, match=rf"--set: {key}: "):
        Settings.load(None, [f"{key}={digits}"])
    section, name = key.split(".")
    (tmp_path / "settings.toml").write_text(f"[{section}]\n{name} = {digits}\n")
    with pytest.raises(
        InputError, match=rf"settings.toml: (not valid settings: a whole number has too many digits|{key}: )"
    ):
        Settings.load(tmp_path / "settings.toml")


def real_settings():
    """The settings that are real numbers, by name."""
    for section, about in Settings.model_fields.items():
        for name, field in about.annotation.model_fields.items():
            if isinstance(field.default, float):
                yield f"{section}.{name}", "{}"
            elif isinstance(field.default, tuple) and field.default:
                yield f"{section}.{name}", "[-1e9, {}]"


@pytest.mark.parametrize(("key", "written"), [*real_settings()])
def test_reals_beyond_single_precision_are_refused_with_the_largest(key, written):
    largest = r"less than( or equal to)? (1|1e\+37)"
    for number in ("1e38", "1e308"):
        with pytest.raises(InputError, match=rf"{key}.*: input should be {largest}; got 1e\+"):
            Settings.load(None, [f"{key}={written.format(number)}"])


def test_settings_cannot_be_changed_by_accident():
    with pytest.raises(ValueError, match="frozen"):
        Settings().model.dim = 3


@pytest.mark.parametrize("name", SCORERS)
def test_the_flags_of_a_scorer_are_those_of_its_class(name):
    kind, scorer = SCORERS[name], CLASSES[name]
    assert kind.halved == scorer.halved
    assert kind.multilinear == issubclass(scorer, MultilinearScorer)
    assert kind.trilinear == (scorer.terms is not None)
    assert kind.pairs == issubclass(scorer, ModelF)


def test_the_scorers_that_can_be_chosen_are_those_there_are():
    assert list(SCORERS) == list(CLASSES)
    assert get_args(ScorerName) == tuple(CLASSES)
    assert all(scorer.name == name for name, scorer in CLASSES.items())


def test_choices_are_those_of_the_code():
    assert set(get_args(SemanticsName)) == set(SEMANTICS)
    for section, key, choices in (
        ("clauses", "semantics", SemanticsName),
        ("clauses", "region", RegionName),
        ("evaluate", "ties", Ties),
        ("model", "scorer", ScorerName),
    ):
        assert SECTIONS[section].model_fields[key].annotation == choices


@pytest.mark.parametrize(
    ("command", "option", "choices"),
    [
        ("certify", "region", RegionName),
        ("certify", "semantics", SemanticsName),
        ("evaluate", "ties", Ties),
        ("evaluate", "filter", Filter),
    ],
)
def test_the_choices_of_an_option_are_those_of_the_setting(command, option, choices):
    result = clausal(command, "no-such-run", f"--{option}", "nonsense")
    assert result.code == 2
    assert all(choice in result.stderr for choice in get_args(choices))


def test_settings_need_no_torch():
    program = "import sys, clausal.config; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
