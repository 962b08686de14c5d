"""The reference pages say what the code says: options and defaults, public names and signatures."""

import ast
import inspect
import re

import pytest
import typer
from markdown_pages import read, section

import clausal
from clausal.cli.app import add_plugins, app


def named_commands(group, prefix=""):
    """Return the commands by what a user types; those of a group under both names."""
    found = {}
    for name, command in group.commands.items():
        inside = getattr(command, "commands", None)
        found |= {prefix + name: command} if inside is None else named_commands(command, f"{prefix}{name} ")
    return found


add_plugins()
COMMANDS = named_commands(typer.main.get_command(app))
FUNCTIONS = [name for name in clausal.__all__ if inspect.isfunction(getattr(clausal, name))]
CLASSES = ("Graph", "Observer", "Run", "Settings")

command_line = read("docs/reference/command-line.md")
python_api = read("docs/reference/python-api.md")


def documented_rows(command):
    """Return the default by option or argument, as the page has it."""
    page = section(command_line, f"clausal {command}")
    rows = re.findall(r"^\| (`-[-\w]+`|[A-Z]+)[^|]*\|([^|]*)\|", page, re.MULTILINE)
    return {name.strip("`"): default.strip().strip("`") for name, default in rows}


def declared(command):
    """Return the default by option or argument, as the command has it; ``--help`` apart."""
    parameters = [parameter for parameter in COMMANDS[command].params if parameter.name != "help"]
    return {_written_name(parameter): parameter.default for parameter in parameters}


def _written_name(parameter):
    return parameter.opts[0] if parameter.param_type_name == "option" else parameter.metavar.strip("[]{}")


def test_every_command_has_a_section():
    assert set(re.findall(r"^## clausal ([\w -]+)$", command_line, re.MULTILINE)) == set(COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_is_documented_and_no_other(command):
    assert set(documented_rows(command)) == set(declared(command))


@pytest.mark.parametrize("command", COMMANDS)
def test_defaults_are_those_of_the_code(command):
    page = documented_rows(command)
    for name, default in declared(command).items():
        if isinstance(default, (str, int, float)) and not isinstance(default, bool):
            assert page[name] == str(default), name


@pytest.mark.parametrize("command", COMMANDS)
def test_sections_open_with_the_help_of_the_command(command):
    summary = COMMANDS[command].help.strip().rstrip(".").split(".")[0]
    assert summary in " ".join(section(command_line, f"clausal {command}").split())


@pytest.mark.parametrize("error", ["ClausalError", "InputError", "RunError"])
def test_exit_codes_of_errors_are_those_of_the_code(error):
    (code,) = re.findall(rf"^\| `{error}` \|.*\| (\d+) \|$", python_api, re.MULTILINE)
    assert int(code) == getattr(clausal, error).exit_code


@pytest.mark.parametrize("name", clausal.__all__)
def test_every_public_name_is_documented(name):
    assert re.search(rf"^(### {name}|## {name}|\| `{name}` \|)", python_api, re.MULTILINE)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_signatures_are_those_of_the_code(name):
    (written,) = re.findall(rf"^{name}\((.*?)\) ->", python_api, re.MULTILINE | re.DOTALL)
    assert parameters_of(written) == parameters_of_code(getattr(clausal, name))


def parameters_of(written):
    """Return the parameters of a written signature: which are by keyword only, and their defaults as written."""
    arguments = ast.parse(f"def f({' '.join(written.split())}): pass").body[0].args
    required = [None] * (len(arguments.args) - len(arguments.defaults))
    defaults = zip(arguments.args, required + arguments.defaults, strict=True)
    given = [(one.arg, "", default) for one, default in defaults]
    given += [(one.arg, "*", default) for one, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)]
    found = [(name, kind, None if default is None else ast.literal_eval(default)) for name, kind, default in given]
    return [*found, *([(arguments.kwarg.arg, "**", None)] if arguments.kwarg else [])]


def parameters_of_code(function):
    kinds = {inspect.Parameter.KEYWORD_ONLY: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    return [
        (one.name, kinds.get(one.kind, ""), None if one.default is one.empty else one.default)
        for one in inspect.signature(function).parameters.values()
        if one.name != "self"
    ]


def public_methods():
    """Yield each method of a public class that has a section: the class, the method."""
    for name in CLASSES:
        for method, value in vars(getattr(clausal, name)).items():
            if not method.startswith("_") and callable(inspect.unwrap(getattr(value, "__func__", value))):
                yield name, method


@pytest.mark.parametrize(("name", "method"), list(public_methods()))
def test_methods_are_documented_with_the_signatures_of_the_code(name, method):
    page = re.split(r"\n###? ", python_api.split(f"## {name}\n")[1])[0]
    (written,) = re.findall(rf"(?:^\| `|^)(?:{name}\.)?{method}\((.*?)\)(?:` \|| ->)", page, re.MULTILINE)
    assert parameters_of(written) == parameters_of_code(getattr(getattr(clausal, name), method))


def test_methods_of_the_main_classes_are_among_those_compared():
    compared = set(public_methods())
    assert {("Run", "predict"), ("Run", "certify"), ("Graph", "split"), ("Graph", "from_triples")} <= compared
    assert {("Observer", "passed"), ("Settings", "load")} <= compared
