"""Settings: assignments and TOML files of known, misspelt and impossible names and values."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

from hypothesis import strategies as st

from clausal import Settings
from fuzzing.cases import Case
from fuzzing.damage import changed, changes, odd_text
from fuzzing.targets import Target

_KEYS = [
    f"{section}.{name}" for section, field in Settings.model_fields.items() for name in field.annotation.model_fields
]
_WORDS = sorted(
    {
        word
        for section in Settings.model_fields.values()
        for field in section.annotation.model_fields.values()
        for word in get_args(field.annotation)
        if isinstance(word, str)
    }
)
_NUMBERS = [
    "0",
    "1",
    "2",
    "-1",
    "7",
    "8",
    "0.5",
    "1e308",
    "-1e308",
    "1e-320",
    "nan",
    "inf",
    "9" * 5000,
    "0x" + "f" * 5000,
]
_NUMBERS += [
    "2147483647",
    "2147483648",
    "9223372036854775807",
    "9223372036854775808",
    "1e37",
    "1_000",
    "0b11",
    "1979-05-27",
]
_VALUES = [
    *_NUMBERS,
    *_WORDS,
    "true",
    "[]",
    "[1, 2]",
    "[-1e308, 1e308]",
    "{}",
    "{a = 1}",
    '""',
    "''",
    "[" * 3000,
    '"\\u0000"',
]

_values = st.integers(0, len(_VALUES) - 1).map(_VALUES.__getitem__) | odd_text
_keys = (
    st.sampled_from(_KEYS)
    | st.sampled_from(["model", "model.", ".dim", "modle.dim", "model.dmi", "model.dim.x", ""])
    | odd_text
)
_assignments = st.lists(st.builds("{}={}".format, _keys, _values), max_size=5)
_presets = st.none() | st.sampled_from(["fb122-best-cpu", "fb122-hard", "none", "best", "../x", ""])
_written = st.lists(
    st.builds(lambda key, value: "[{}]\n{} = {}".format(*key.split("."), value), st.sampled_from(_KEYS), _values),
    max_size=4,
).map("\n".join)


@st.composite
def _cases(draw: st.DrawFn) -> Case:
    files = {}
    if draw(st.booleans()):
        content = draw(_written).encode()
        files["settings.toml"] = changed(content, draw(changes)) if draw(st.booleans()) else content
    return Case(files, {"assignments": draw(_assignments), "preset": draw(_presets)})


def run(case: Case, folder: Path) -> None:
    """Load settings; what is written of them is read as the same settings."""
    paths = case.write(folder)
    settings = Settings.load(
        paths[0] if paths else None, case.options["assignments"], preset=case.options.get("preset")
    )
    (folder / "again.toml").write_text(settings.to_toml(), encoding="utf-8")
    assert Settings.load(folder / "again.toml") == settings, "settings read back differently"


TARGET = Target(_cases(), run, slice=600)
