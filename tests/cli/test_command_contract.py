"""What scripts rely on: exit codes, results on stdout, messages on stderr, quick help."""

import csv
import io
import resource
import shlex
import subprocess
import sys

import pytest

import clausal as package
from command_line import CLAUSAL, clausal, clausal_process
from small_graphs import small_facts, train_options, write_small_graph

COMMANDS = (
    *("demo", "train", "evaluate", "predict", "certify", "clauses", "closure", "prove", "partition", "mine"),
    *("reproduce", "search", "report", "compare", "split"),
)


def test_help_answers_at_once():
    def seconds():
        before = resource.getrusage(resource.RUSAGE_CHILDREN)  # the processor's time: others may use it too
        assert clausal_process("--help").returncode == 0
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    assert min(seconds() for _ in range(5)) < 0.5


def test_help_and_version_do_not_import_torch():
    code = (
        "import sys; from clausal.cli import main; sys.argv = ['clausal', {!r}]\n"
        "try: main()\n"
        "except SystemExit: print(sorted({{'torch', 'numpy', 'pyarrow', 'lark'}} & set(sys.modules)))"
    )
    for option in ("--help", "--version"):
        result = subprocess.run([sys.executable, "-c", code.format(option)], capture_output=True, text=True, check=True)
        assert result.stdout.endswith("[]\n")


@pytest.mark.parametrize("option", ["-h", "--help"])
@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(command, option):
    result = clausal(command, option)
    assert result.code == 0
    assert result.stderr == ""
    assert f"clausal {command}" in result.stdout
    assert "<bool>" not in result.stdout


def test_help_of_all_lists_the_commands_without_types_of_flags():
    result = clausal("--help")
    assert all(command in result.stdout for command in COMMANDS)
    assert "<bool>" not in result.stdout


def test_the_module_is_the_command():
    module = subprocess.run([sys.executable, "-m", "clausal", "--version"], capture_output=True, text=True, check=True)
    assert module.stdout == clausal_process("--version").stdout


def test_version():
    assert clausal("--version").stdout == f"clausal {package.__version__}\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ["fly"],
        ["train", "--fly"],
        ["train", "--valid", "many"],
        ["evaluate"],
        ["predict", "run"],
        ["predict", "run", "q(a, ?)", "-k", "x"],
        ["evaluate", "run", "--format", "yaml"],
        ["evaluate", "run", "--ties", "lucky"],
    ],
    ids=" ".join,
)
def test_bad_usage_ends_with_code_2_and_says_so_on_stderr(arguments):
    result = clausal(*arguments)
    assert result.code == 2
    assert result.stdout == ""
    assert result.stderr
    assert "Traceback" not in result.stderr


def test_without_arguments_the_help_is_shown():
    result = clausal()
    assert "Usage" in result.stdout + result.stderr


@pytest.mark.parametrize("format", ["table", "json", "csv"])
def test_results_go_to_stdout_and_messages_to_stderr(format, graph_folder, tmp_path):
    result = clausal(*train_options(graph_folder), "--out", tmp_path / "run", "--format", format)
    assert result.code == 0
    for message in ("24 entities, 3 relations", "3 clauses, adversary gradient", "epoch 4/4", "next: clausal evaluate"):
        assert message in result.stderr
        assert message not in result.stdout
    assert "\x1b" not in result.stdout + result.stderr
    if format == "json":
        assert set(result.json) == {"valid", "test", "training"}
    elif format == "csv":
        assert next(csv.DictReader(io.StringIO(result.stdout)))["facts ranked"] == "test"
    else:
        assert "MRR" in result.stdout


def test_no_escapes_when_piped_even_from_a_real_process(finished):
    result = clausal_process("evaluate", finished)
    assert result.returncode == 0
    assert "\x1b" not in result.stdout
    assert result.stderr == ""


def test_the_commands_shown_at_the_end_of_a_training_work_as_they_are(tmp_path):
    odd = {"manages": "it's $HOME (x)", "person 01": 'O\'Neil, "Bob"'}
    graph = write_small_graph(tmp_path / "a folder", [tuple(odd.get(name, name) for name in f) for f in small_facts()])
    result = clausal("train", graph, *train_options(graph)[4:], "--out", tmp_path / "it's a run")
    shown = [line[line.index("clausal ") :] for line in result.stderr.splitlines() if "clausal " in line]
    assert [line.split()[1] for line in shown] == ["evaluate", "predict", "fuse"]
    for line in shown:
        _, *arguments = shlex.split(line.replace("RUN2", shlex.quote(str(tmp_path / "votes"))))
        assert clausal(*arguments).code == 0


def test_a_reader_that_stops_early_is_no_failure_to_complain_about(finished):
    line = f"{CLAUSAL} evaluate {finished} --format json --relations | head -1"
    result = subprocess.run(["bash", "-c", line], capture_output=True, text=True, timeout=60)
    assert result.stdout == "{\n"
    assert result.stderr == ""


def test_a_closed_pipe_is_silent(finished):
    process = subprocess.Popen(
        [CLAUSAL, "predict", finished, "manages(person 01, ?)", "--format", "json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    process.stdout.close()  # before anything is written
    with process:
        assert process.stderr.read() == b""


def test_an_error_inside_is_one_message_and_its_place_is_shown_on_request(finished, monkeypatch):
    def fail(*_, **__):
        raise ZeroDivisionError("odd")

    monkeypatch.setattr("clausal.run.load", fail)
    result = clausal("evaluate", finished)
    assert result.code == 1
    assert result.stderr.startswith("internal error: ZeroDivisionError: odd\n")
    monkeypatch.setenv("CLAUSAL_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        clausal("evaluate", finished)
