"""Every page: links lead somewhere, code can be read, settings exist, and no path of one machine is named."""

import re
import tomllib

import pytest
from markdown_pages import DOCS, PAGES, REPOSITORY, anchors, blocks, links, name_of, prose, read

import clausal
from clausal.config import Settings
from clausal.logic import parse_clauses

every_page = pytest.mark.parametrize("page", PAGES, ids=name_of)


@every_page
def test_relative_links_resolve(page):
    for link in links(page):
        if "://" in link:
            continue
        path, _, fragment = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{name_of(page)} links to {link}"
        assert REPOSITORY in target.parents, f"{name_of(page)} links out of the repository: {link}"
        assert not fragment or fragment in anchors(target), f"{name_of(page)} links to {link}"


def test_index_leads_to_every_page():
    linked = {(DOCS / link.partition("#")[0]).resolve() for link in links(DOCS / "README.md")}
    assert linked >= set(DOCS.rglob("*.md")) - {DOCS / "README.md"}


@every_page
def test_python_blocks_compile(page):
    for block in blocks(page):
        if block.language == "python":
            compile(block.text, f"{name_of(page)}:{block.line}", "exec")


@every_page
def test_toml_blocks_are_settings(page):
    for block in blocks(page):
        if block.language == "toml":
            Settings.from_mapping(tomllib.loads(block.text), f"{name_of(page)}:{block.line}")


@every_page
def test_settings_that_are_named_exist(page):
    text = page.read_text(encoding="utf-8")
    sections = "|".join(Settings.model_fields)
    named = re.findall(rf"`({sections})\.(\w+)(?:`| = )", text) + re.findall(rf"--set ({sections})\.(\w+)=", text)
    endings = {"txt", "tsv", "csv", "pl", "parquet", "safetensors"}
    for section, key in named:
        if key in endings or f"unknown setting '{section}.{key}'" in text:  # a mistake on purpose
            continue
        known = Settings.model_fields[section].annotation.model_fields
        assert key in known, f"{name_of(page)} names {section}.{key}"


def test_clauses_in_the_how_to_are_in_the_language():
    table = re.findall(r"^\| [^|]+ \| `(.+)` \|$", prose(DOCS / "how-to" / "clauses.md"), re.MULTILINE)
    written = [cell.replace(r"\|", "|").replace("` and `", "\n") for cell in table if "=>" in cell]
    assert len(written) >= 8
    for text in written:
        assert parse_clauses(text)


@every_page
def test_no_page_names_a_path_of_one_machine(page):
    text = page.read_text(encoding="utf-8")
    assert not [path for path in ("/tmp/", "/home/", f"{REPOSITORY}") if path in text]


def test_citation_and_changelog_are_of_this_version():
    assert f"\nversion: {clausal.__version__}\n" in read("CITATION.cff")
    assert clausal.__version__ in read("CHANGELOG.md")
