"""Commands with odd options: one message and an exit code, never an internal error or a traceback."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from pathlib import Path

from hypothesis import strategies as st
from typer.main import get_command

from clausal.cli.app import app
from command_line import clausal
from fuzzing.base_runs import graph_folder, run_folder
from fuzzing.cases import Case
from fuzzing.damage import odd_text
from fuzzing.limits import Failure, TooSlow, check_message
from fuzzing.targets import Target

RUN, DESCRIBED, GRAPH, CLAUSES, OUT = "RUN", "DESCRIBED", "GRAPH", "CLAUSES", "OUT"
"""Words of a case that stand for paths, which differ from process to process."""

_QUESTION = "manages(person 01, ?)"
_ARGUMENTS = {
    "predict": [RUN, _QUESTION],
    "evaluate": [RUN],
    "certify": [RUN],
    "complete": [RUN],
    "score": [RUN, f"{GRAPH}/test.tsv"],
    "nearest": [RUN, "person 01"],
    "vectors": [RUN, "--out", f"{OUT}.parquet"],
    "clauses": [CLAUSES],
    "closure": [GRAPH, "--clauses", CLAUSES],
    "prove": [GRAPH, "outranks(person 00, person 05)", "--clauses", CLAUSES],
    "mine": [GRAPH],
    "split": [GRAPH, "--out", OUT],
    "partition": [GRAPH, "--clauses", CLAUSES, "--out", OUT],
    "train": [GRAPH, "--set", "train.epochs=1", "--set", "train.passes=1", "--set", "model.dim=4", "--out", OUT],
    "update": [RUN, f"{GRAPH}/test.tsv", "--out", OUT],
    "compare": [RUN, RUN],
    "report": [DESCRIBED, "--out", f"{OUT}.html"],
}
_LEFT_OUT = {"--help", "-h", "--engine", "--master", "--preset", "--refine"}  # the last ones may take minutes
_OPTIONS = {
    command: [
        (option, getattr(parameter, "is_flag", False))
        for parameter in get_command(app).commands[command].params
        for option in parameter.opts
        if option.startswith("-") and option not in _LEFT_OUT
    ]
    for command in _ARGUMENTS
}
"""The options of each command, and whether one takes no value."""

_WORDS = """
0 1 -1 3 0.5 1e308 -1e308 nan inf 0.5,0.5 1e308,1e308 1e38,1e38 x 2GB 99999999999TB 1B 0GB -1GB json csv text auto all
godel domain / . /dev/null rules fused entailed owl kale prolog anyburl optimistic partial valid train hull discs
train.initial_accumulator=1e308 model.box=[-1e308,1e308] clauses.steps=0xff
"""
_VALUES = [
    *_WORDS.split(),
    *(RUN, GRAPH, CLAUSES, OUT, f"{OUT}/..", f"{OUT}/a/b.tsv", f"{OUT}.parquet", f"{OUT}.ttl"),
    *("", "\x00", "9" * 400, "9" * 400 + "GB"),
]
_values = st.sampled_from(_VALUES) | odd_text


@st.composite
def _cases(draw: st.DrawFn) -> Case:
    command = draw(st.sampled_from(sorted(_ARGUMENTS)))
    words = list(_ARGUMENTS[command])
    if draw(st.integers(0, 4)) == 0:
        words[draw(st.integers(0, len(words) - 1))] = draw(_values)
    for option, flag in draw(st.lists(st.sampled_from(_OPTIONS[command]), max_size=3)):
        words += [option] if flag else [option, draw(_values)]
    return Case({}, {"command": command, "words": words})


def run(case: Case, folder: Path) -> None:
    """Run a command in this process."""
    places = {RUN: run_folder("finished"), DESCRIBED: run_folder("described"), GRAPH: graph_folder()}
    clauses = shutil.copy(graph_folder() / "clauses.txt", folder)  # a command may replace it
    places |= {CLAUSES: clauses, OUT: folder / "out"}
    words = [case.options["command"]]
    for word in case.options["words"]:
        start, slash, rest = word.partition("/")
        start, dot, ending = start.partition(".") if start not in places else (start, "", "")
        words.append(f"{places[start]}{dot}{ending}{slash}{rest}" if start in places else word)
    with contextlib.chdir(folder):
        result = clausal(*words)
    said = result.stderr
    if TooSlow.__name__ in said:  # which the command explained, as any other error
        raise TooSlow(said[-300:])
    if "internal error" in said or "Traceback" in said or result.code not in (0, 1, 2):
        what = said[said.find("internal error") :] if "internal error" in said else said[-1500:]
        raise Failure(f"{what}\nexit code {result.code}")
    if result.code:
        check_message(said)


def prepare() -> None:
    """Run each command once as it is meant."""
    for command, words in _ARGUMENTS.items():
        with tempfile.TemporaryDirectory() as folder:
            run(Case({}, {"command": command, "words": words}), Path(folder))


TARGET = Target(_cases(), run, slice=30, prepare=prepare)
