"""The documentation builds as a site without a warning, and its pages load nothing from elsewhere."""

import re
import subprocess
import sys

import pytest
from markdown_pages import DOCS, REPOSITORY

_LOADED = re.compile(
    r'(?:<script[^>]* src|<img[^>]* src|<link[^>]* rel="stylesheet"[^>]* href)="(https?:)?//', re.IGNORECASE
)


def test_the_site_builds_without_a_warning_and_needs_no_network(tmp_path):
    for package in ("sphinx", "furo", "myst_parser", "sphinx_copybutton"):
        pytest.importorskip(package, reason="pip install --group site to build the documentation as a site")
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "-W",
        "--keep-going",
        "-q",
        "-c",
        str(DOCS),
        "-b",
        "html",
        str(REPOSITORY),
    ]
    built = subprocess.run([*command, str(tmp_path)], capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    pages = {page: page.read_text(encoding="utf-8") for page in tmp_path.rglob("*.html")}
    assert len(pages) > len(list(DOCS.rglob("*.md")))
    assert not [page for page, html in pages.items() if _LOADED.search(html)]
    names = pages[tmp_path / "docs" / "reference" / "docstrings.html"]
    assert 'id="clausal.train"' in names
    assert 'id="clausal.Run.predict"' in names
