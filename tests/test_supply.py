"""What is installed: every pin has its hashes, every claim is one that is tested, and every package has a licence."""

import re
import tomllib
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[1]
PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))


def normal(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def pins(file):
    lines = (REPOSITORY / file).read_text(encoding="utf-8").splitlines()
    return {normal(name): version for name, version in re.findall(r"^([\w.-]+)==(\S+)", "\n".join(lines), re.MULTILINE)}


def requirements(group):
    """The names that a dependency group asks for, with those of the groups that it includes."""
    for line in PROJECT["dependency-groups"][group]:
        if isinstance(line, dict):
            yield from requirements(line["include-group"])
        else:
            yield normal(re.match(r"[\w.-]+", line)[0])


def test_what_ci_installs_is_what_is_constrained():
    constrained = pins("constraints.txt")
    for name, version in pins("locked.txt").items():
        assert constrained.get(name) == version, f"{name}: run `make lock`"


def test_all_that_tests_need_is_locked():
    locked = pins("locked.txt")
    dependencies = [normal(re.match(r"[\w.-]+", line)[0]) for line in PROJECT["project"]["dependencies"]]
    for name in {*dependencies, *requirements("test"), *requirements("build")} - {"torch"}:
        assert name in locked, f"{name}: run `make lock`"


def test_every_package_has_a_hash_and_none_comes_from_elsewhere():
    text = (REPOSITORY / "locked.txt").read_text(encoding="utf-8")
    for package in re.split(r"^(?=[A-Za-z])", text, flags=re.MULTILINE)[1:]:
        assert re.search(r"--hash=sha256:[0-9a-f]{64}", package), package.split()[0]
    assert "://" not in text
    assert "index" not in re.sub(r"^#.*", "", text, flags=re.MULTILINE)


def test_claimed_versions_are_those_that_are_tested():
    about = PROJECT["project"]
    torch = next(line for line in about["dependencies"] if line.startswith("torch"))
    lowest, beyond = re.fullmatch(r"torch>=([\d.]+),<([\d.]+)", torch).groups()
    tested = tuple(map(int, pins("constraints.txt")["torch"].split(".")[:2]))
    assert tuple(map(int, beyond.split("."))) == (tested[0], tested[1] + 1)
    assert tuple(map(int, lowest.split("."))) <= tested
    pythons = [line.rpartition(" ")[2] for line in about["classifiers"] if line.startswith("Programming Language")]
    assert pythons == ["3.11"]
    assert about["requires-python"] == ">=3.11"


@pytest.mark.parametrize("line", PROJECT["project"]["dependencies"])
def test_every_dependency_has_a_lower_bound_and_a_licence(line):
    name = normal(re.match(r"[\w.-]+", line)[0])
    assert ">=" in line
    page = (REPOSITORY / "docs/reference/packages.md").read_text(encoding="utf-8")
    assert re.search(rf"^\| {name.replace('-', '[-_.]')} \| \S+ \| \S", page, re.MULTILINE)


def test_on_windows_the_import_says_that_it_is_not_supported(monkeypatch):
    import runpy
    import sys

    monkeypatch.setattr(sys, "platform", "win32")
    with pytest.warns(RuntimeWarning, match="not supported on Windows"):
        runpy.run_path(str(REPOSITORY / "src/clausal/__init__.py"), run_name="clausal_again")
