"""The page on ontologies, followed literally in an empty folder with Brick's ontology."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from markdown_pages import DOCS, blocks

PAGE = DOCS / "how-to/ontology.md"
pytest.importorskip("brickschema", reason="Brick's ontology comes with the package: pip install brickschema")


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    """Return what each command of the page printed."""
    folder = tmp_path_factory.mktemp("ontology")
    here = Path(sys.executable).parent
    environment = os.environ | {"PATH": f"{here}{os.pathsep}{os.environ['PATH']}", "OMP_NUM_THREADS": "1"}
    outputs = {}
    for block in blocks(PAGE):
        if block.language == "python":
            subprocess.run([sys.executable, "-c", block.text], cwd=folder, check=True, timeout=60)
        for line in block.text.splitlines() if block.language == "console" else ():
            if line.startswith("clausal "):
                done = subprocess.run(
                    ["bash", "-c", line],
                    cwd=folder,
                    env=environment,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    encoding="utf-8",
                    timeout=300,
                )
                assert done.returncode == 0, f"{line}\n{done.stdout}"
                outputs[line] = done.stdout
    return outputs, folder


def of(printed, *words):
    return next(text for line, text in printed[0].items() if all(word in line for word in words))


def test_the_review_counts_what_the_page_says(printed):
    text = of(printed, "clauses Brick.ttl")
    for line in ("2,498 clauses, read as owl", "2 about datatypes, 2 owl:sameAs", "397 / 50 / 50 facts"):
        assert line in text
    assert "brick:isFedBy(X, Y) => brick:feeds(Y, X)" in text


def test_the_closure_is_a_graph_with_its_labels_and_prefixes(printed):
    assert "2,485 facts written to closed.ttl" in of(printed, "closure")
    closed = (printed[1] / "closed.ttl").read_text()
    assert "@prefix brick:" in closed
    assert '"Room 101"@en' in closed


def test_a_proof_goes_up_the_classes(printed):
    assert "└─ rdf:type(bldg:ahu_1, brick:AHU)  given" in of(printed, "prove")


def test_answers_by_short_names_are_explained(printed):
    text = of(printed, "predict", "--explain")
    assert "by brick:isFedBy(X, Y) => brick:feeds(Y, X)" in text
    assert "entailed" in text
    assert "predicted" in of(printed, "predict", "--ranking entailed")
    assert "Thermometer" in of(printed, "predict", "--names label")
    assert "probability" in (printed[1] / "answers.ttl").read_text()


def test_every_clause_of_the_ontology_that_fits_is_certified(printed):
    text = of(printed, "certify")
    assert " 24. " in text
    assert "violated" in text or "holds for all" in text
