"""The page on unseen entities, followed literally in an empty folder."""

import contextlib
import io
import shlex

import pytest
from markdown_pages import DOCS, blocks

from command_line import clausal

PAGE = DOCS / "how-to/unseen.md"


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    """Return what each command and each program of the page printed."""
    outputs = {}
    with contextlib.chdir(tmp_path_factory.mktemp("unseen")):
        for block in blocks(PAGE):
            if block.language == "python":
                with contextlib.redirect_stdout(io.StringIO()) as out:
                    exec(compile(block.text, str(PAGE), "exec"), {})
                outputs[block.text] = out.getvalue()
            for line in block.text.splitlines() if block.language == "console" else ():
                result = clausal(*shlex.split(line)[1:])
                assert result.code == 0, f"{line}\n{result.stderr}"
                outputs[line] = result.stdout + result.stderr
    return outputs


def of(printed, *words):
    return next(text for line, text in printed.items() if all(word in line for word in words))


def first_row(text):
    return next(line for line in text.splitlines() if "│    1 │" in line)


def test_texts_and_new_entities_are_answered_for(printed):
    asked = of(printed, "predict", "green horse")
    assert "is read as a text that describes one" in asked
    assert "│ horse " in first_row(asked)
    assert "│ dog " in first_row(of(printed, "is_a(rex, ?)", "--describe"))
    assert "rex" in first_row(of(printed, "is_a(?, dog)"))
    assert "is_a(rex, dog)" in of(printed, "run.describe")


def test_the_evaluation_has_a_row_for_each_kind_of_unseen(printed):
    assert "test-unseen-seen" in of(printed, "clausal evaluate")
