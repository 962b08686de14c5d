"""The documentation as a site: `make site` builds these Markdown pages with Sphinx."""

import re
from pathlib import Path

from pygments.lexers.prolog import PrologLexer
from pygments.lexers.special import TextLexer
from sphinx.application import Sphinx

import clausal

project = "clausal"
author = "the authors of clausal"
release = version = clausal.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton"]
root_doc = "README"
include_patterns = [
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "docs/**",
    "src/clausal/data/world/*.md",
]
exclude_patterns = ["docs/_static"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}

html_theme = "furo"
html_title = f"clausal {version}"
html_static_path = ["_static"]
html_css_files = ["tables.css"]
html_show_sphinx = False
html_copy_source = False

myst_heading_anchors = 4
myst_enable_extensions = ["dollarmath"]
copybutton_exclude = ".linenos, .gp, .go"

autodoc_typehints = "description"
autodoc_member_order = "bysource"
nitpicky = False

_SECTION = re.compile(r"^## ([^\n]+)\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
_PAGE = re.compile(r"^- \[[^\]]+\]\(([^)#]+)\.(?:md|rst)\)", re.MULTILINE)


def _contents(_app: Sphinx, page: str, source: list[str]) -> None:
    """Make the navigation of the site from the lists of the documentation's first page, a section each."""
    if page == root_doc:
        lists = Path(__file__).with_name("README.md").read_text(encoding="utf-8")
        source[0] += _tree("", ["docs/tutorial"])
        for title, text in _SECTION.findall(lists):
            source[0] += _tree(f":caption: {title}\n", [f"docs/{found}" for found in _PAGE.findall(text)])
        source[0] += _tree(
            ":caption: Project\n",
            ["docs/README", "CHANGELOG", "CONTRIBUTING", "SECURITY", "src/clausal/data/world/SOURCE"],
        )


def _tree(options: str, pages: list[str]) -> str:
    return "\n```{toctree}\n:hidden:\n" + options + "\n" + "\n".join(pages) + "\n```\n"


def setup(app: Sphinx) -> None:
    """Connect what the configuration adds."""
    app.connect("source-read", _contents)
    app.add_lexer("clauses", PrologLexer)
    app.add_lexer("lark", TextLexer)
