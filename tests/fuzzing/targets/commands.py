"""Commands with odd options: one message and an exit code, never an internal error or a traceback."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import strategies as st

from command_line import clausal
from fuzzing.base_runs import graph_folder, run_folder
from fuzzing.cases import Case
from fuzzing.damage import odd_text
from fuzzing.limits import Failure, check_message
from fuzzing.targets import Target

RUN, DESCRIBED, GRAPH, CLAUSES, OUT = "RUN", "DESCRIBED", "GRAPH", "CLAUSES", "OUT"
"""Words of a case that stand for paths, which differ from process to process."""

_QUESTION = "manages(person 01, ?)"
_ASKING = "--ranking --format --names --consistent"
_COMMANDS = {
    "predict": ([RUN, _QUESTION], f"{_ASKING} -k --new --explain --describe --out"),
    "evaluate": ([RUN], f"{_ASKING} --split --ties --filter --per-relation --memory --classify"),
    "certify": ([RUN], "--region --tolerance --semantics --thresholds --entities --require --format --decisions"),
    "complete": ([RUN], f"{_ASKING} --min-probability --relation --per-entity --limit --out"),
    "score": ([RUN, f"{GRAPH}/test.tsv"], f"{_ASKING} --out --unknown --columns --header"),
    "nearest": ([RUN, "person 01"], "-k --metric --kind --format"),
    "vectors": ([RUN], "--out --kind"),
    "clauses": ([CLAUSES], "--graph --to --out --from --weigh --min-confidence --format --names"),
    "closure": ([GRAPH, "--clauses", CLAUSES], "--out --rounds --limit --memory --threads --engine --format"),
    "prove": ([GRAPH, "outranks(person 00, person 05)", "--clauses", CLAUSES], "--most --format --names"),
    "mine": ([GRAPH], "--min-support --min-confidence --body --most --seconds --out --format"),
    "split": ([GRAPH, "--out", OUT], "--valid --test --seed --inductive"),
    "partition": ([GRAPH, "--clauses", CLAUSES], "--out --rounds --memory"),
    "train": (
        [GRAPH, "--set", "train.epochs=1", "--set", "train.passes=1", "--set", "model.dim=4", "--out", OUT],
        "--set --clauses --config --preset --valid --test --seed --columns --from --text --vectors",
    ),
    "update": ([RUN, f"{GRAPH}/test.tsv", "--out", OUT], "--remove --refine --columns"),
    "compare": ([RUN, RUN], "--split --format --out"),
    "report": ([DESCRIBED], "--out --format"),
}
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
    command = draw(st.sampled_from(sorted(_COMMANDS)))
    arguments, options = _COMMANDS[command]
    words = list(arguments)
    if draw(st.integers(0, 4)) == 0:
        words[draw(st.integers(0, len(words) - 1))] = draw(_values)
    for option in draw(st.lists(st.sampled_from(options.split()), max_size=3)):
        words.append(option)
        if draw(st.integers(0, 4)):
            words.append(draw(_values))
    return Case({}, {"command": command, "words": words})


def run(case: Case, folder: Path) -> None:
    """Run a command in this process."""
    places = {RUN: run_folder("finished"), DESCRIBED: run_folder("described"), GRAPH: graph_folder()}
    places |= {CLAUSES: graph_folder() / "clauses.txt", OUT: folder / "out"}
    words = [case.options["command"]]
    for word in case.options["words"]:
        start, slash, rest = word.partition("/")
        start, dot, ending = start.partition(".") if start not in places else (start, "", "")
        words.append(f"{places[start]}{dot}{ending}{slash}{rest}" if start in places else word)
    result = clausal(*words)
    said = result.stderr
    if "internal error" in said or "Traceback" in said or result.code not in (0, 1, 2):
        raise Failure(f"exit code {result.code}: {said[-1500:]}")
    if result.code:
        check_message(said)


def prepare() -> None:
    """Run each command once as it is meant."""
    for command, (words, _) in _COMMANDS.items():
        with tempfile.TemporaryDirectory() as folder:
            run(Case({}, {"command": command, "words": words}), Path(folder))


TARGET = Target(_cases(), run, slice=40, prepare=prepare)
