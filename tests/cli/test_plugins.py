"""Other packages add commands and presets by entry points, and one that is broken breaks nothing else."""

import os
import subprocess

import pytest

from command_line import CLAUSAL

GREET = '''
import typer
from clausal.cli import Format, FormatOption, print_results


def greet(name: str, format: FormatOption = Format.table) -> None:
    """Greet someone."""
    print_results(format, [{"greeting": f"hello {name}"}], {"greeting": f"hello {name}"})


more = typer.Typer(help="More greetings.")
more.command("bye")(lambda: print("bye"))
more.command("again")(lambda: print("hello again"))
'''


def installed(folder, entry_points, **modules):
    """Make a folder that holds an installed distribution, with these modules and entry points."""
    information = folder / "greetings-1.0.dist-info"
    information.mkdir(parents=True)
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: greetings\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text(entry_points)
    for name, text in modules.items():
        (folder / f"{name}.py").write_text(text)
    return folder


def clausal_with(folder, *arguments):
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])}
    return subprocess.run([CLAUSAL, *arguments], env=environment, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def greetings(tmp_path_factory):
    entry_points = """
[clausal.commands]
greet = greetings:greet
greetings = greetings:more

[clausal.presets]
greetings = greetings_presets
"""
    folder = installed(tmp_path_factory.mktemp("site"), entry_points, greetings=GREET)
    (folder / "greetings_presets").mkdir()
    (folder / "greetings_presets" / "small.toml").write_text("[model]\ndim = 6\n[train]\nepochs = 1\n")
    return folder


def test_a_function_of_another_package_is_a_command_and_a_typer_a_group(greetings):
    assert "greet" in clausal_with(greetings, "--help").stdout
    assert clausal_with(greetings, "greet", "world", "--format", "json").stdout == '{\n  "greeting": "hello world"\n}\n'
    assert clausal_with(greetings, "greetings", "bye").stdout == "bye\n"


def test_a_preset_of_another_package_is_trained_with(greetings, graph_folder, tmp_path):
    result = clausal_with(greetings, "train", graph_folder, "--preset", "small", "--out", tmp_path / "run")
    assert result.returncode == 0, result.stderr
    assert "dim = 6\n" in (tmp_path / "run" / "config.toml").read_text()


@pytest.mark.parametrize(
    ("text", "reason"),
    [(None, "ModuleNotFoundError"), ("import typer\n", "AttributeError"), ("1 / 0\n", "ZeroDivision")],
)
def test_a_broken_command_is_one_line_and_all_others_are_there(text, reason, tmp_path):
    modules = {} if text is None else {"broken": text}
    folder = installed(tmp_path, "[clausal.commands]\nbroken = broken:command\n", **modules)
    result = clausal_with(folder, "--help")
    assert result.returncode == 0
    assert all(name in result.stdout for name in ("train", "reproduce"))
    (line,) = result.stderr.splitlines()
    assert line.startswith("warning: the command 'broken' is left out: broken:command: ")
    assert reason in line


def test_broken_presets_are_told_only_to_who_looks_for_one(tmp_path, graph_folder):
    folder = installed(tmp_path, "[clausal.presets]\nbroken = broken_presets\n", broken_presets="raise OSError('gone')")
    assert clausal_with(folder, "reproduce", "--help").stderr == ""
    result = clausal_with(folder, "train", graph_folder, "--preset", "fb122-complx", "--out", tmp_path / "run")
    assert result.returncode == 2
    assert "did you mean 'fb122-complex'" in result.stderr
    assert "the presets of 'broken' cannot be read: OSError: gone" in result.stderr
