"""The page of tests: its counts are those that the suites left, and it names commands that there are."""

import importlib.util
import json
import re

from markdown_pages import REPOSITORY, read

PAGE = "docs/explanation/how-clausal-is-tested.md"


def load_tool():
    spec = importlib.util.spec_from_file_location("tests_page", REPOSITORY / "tools" / "tests_page.py")
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    return tool


def test_the_counts_are_those_of_the_last_runs():
    page = read(PAGE)
    assert load_tool().with_counts(page) == page, "run `make docs`"


def test_every_file_of_counts_is_on_the_page():
    page = read(PAGE)
    for path in (REPOSITORY / "results" / "tests").glob("*.json"):
        assert f"### {path.stem.capitalize()}" in page
        for part, counts in json.loads(path.read_text(encoding="utf-8")).get("targets", {}).items():
            shortest = min((f"{count:,}" for count in counts.values()), key=len)
            assert re.search(rf"^\| {re.escape(part)} \|.*{shortest}", page, re.MULTILINE)


def test_commands_of_the_page_are_in_the_makefile():
    for target in re.findall(r"^make ([\w-]+)", read(PAGE), re.MULTILINE):
        assert re.search(rf"^{target}:", read("Makefile"), re.MULTILINE), target


def test_coverage_is_summed_up_by_room(tmp_path, monkeypatch):
    tool = load_tool()
    monkeypatch.setattr(tool, "RESULTS", tmp_path)

    def summary(*counts):
        names = ("covered_lines", "num_statements", "covered_branches", "num_branches")
        return {"summary": dict(zip(names, counts, strict=True))}

    files = {"src/clausal/run/a.py": summary(9, 10, 1, 2), "src/clausal/run/b/c.py": summary(1, 10, 1, 2)}
    elsewhere = {"/tmp/copy/clausal/run/a.py": summary(0, 100, 0, 0)}
    tool.keep_coverage({"files": files | elsewhere | {"src/clausal_paper/grid.py": summary(10, 20, 0, 0)}})
    kept = json.loads((tmp_path / "coverage.json").read_text())
    assert kept["targets"]["clausal.run"] == {"lines": 20, "% of lines": 50.0, "branches": 4, "% of branches": 50.0}
    assert kept["targets"]["clausal_paper"]["% of lines"] == 50.0
    assert kept["% of lines"] == 50.0
    assert "| clausal.run | 20 | 50.0 | 4 | 50.0 |" in tool.section("coverage", kept)
