"""The page on keeping a model up to date, followed literally in an empty folder."""

import os
import shlex
from pathlib import Path

import pytest
from markdown_pages import DOCS, blocks

from command_line import clausal

PAGE = DOCS / "how-to/update.md"


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    """Return what each command of the page printed, and the folder."""
    folder, before = tmp_path_factory.mktemp("update"), Path.cwd()
    os.chdir(folder)
    try:
        outputs = {}
        for block in blocks(PAGE):
            if block.language == "python":
                exec(compile(block.text, str(PAGE), "exec"), {})
            for line in block.text.splitlines() if block.language == "console" else ():
                done = clausal(*shlex.split(line)[1:])
                assert done.code == 0, f"{line}\n{done.stderr}"
                outputs[line] = done.stdout + done.stderr
        yield outputs, folder
    finally:
        os.chdir(before)


def of(printed, *words):
    return next(text for line, text in printed[0].items() if all(word in line for word in words))


def test_new_entities_are_told_of_and_asked_about(printed):
    text = of(printed, "update", "new.tsv")
    assert "runs/world-2: 6 new facts, 2 new entities" in text
    assert "every clause that held for all entities still does" in text
    assert "located_in" in of(printed, "predict")


def test_certificates_are_those_of_the_run_before(printed):
    from clausal import load

    before, after = (load(printed[1] / "runs" / name).certify(entities=False) for name in ("world", "world-2"))
    assert [one.bound for one in before.clauses] == pytest.approx([one.bound for one in after.clauses])


def test_facts_are_withdrawn_and_known_entities_refined(printed):
    assert "1 fact withdrawn, vectors of 2 known entities refined" in of(printed, "--remove")


def test_what_the_graph_lacks_is_printed_and_written(printed):
    assert "precision" in of(printed, "--limit 10")
    assert "new facts written to missing.tsv" in of(printed, "missing.tsv")
    header, *rows = (printed[1] / "missing.tsv").read_text(encoding="utf-8").splitlines()
    assert header.split("\t")[:4] == ["rank", "subject", "relation", "object"]
    assert all(float(row.split("\t")[5]) >= 0.95 for row in rows)
    assert '"verdict": "entailed"' in (printed[1] / "located.jsonl").read_text(encoding="utf-8")
