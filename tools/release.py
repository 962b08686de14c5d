"""Make and check a release: build twice, compare, look inside, install into an empty environment, run it there.

usage: python tools/release.py [--quick]   (``--quick`` leaves out the whole suite of the source archive)
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from email.parser import HeaderParser
from pathlib import Path

from sbom import CONSTRAINTS, install, write_bill

REPOSITORY = Path(__file__).resolve().parents[1]
DIST = REPOSITORY / "dist"


def main() -> None:
    """Run all checks; the first that fails ends the program with what was wrong."""
    version = _version()
    wheel, source = _build_twice()
    _check_wheel(wheel, version)
    _check_changelog(version)
    with tempfile.TemporaryDirectory() as folder:
        python = install(str(wheel), Path(folder) / "environment")
        subprocess.run([python, "-m", "clausal", "demo", "--out", str(Path(folder) / "demo")], check=True)
        print(f"{len(write_bill(python, DIST / 'sbom.json'))} packages in sbom.json, each with its licence")
        _test(source, Path(folder), python, whole="--quick" not in sys.argv)
    print(f"clausal {version} is ready in {DIST}")


def _version() -> str:
    text = (REPOSITORY / "src/clausal/__init__.py").read_text(encoding="utf-8")
    found = re.search(r'^__version__ = "(.+)"$', text, re.MULTILINE)
    assert found
    return found[1]


def _build_twice() -> tuple[Path, Path]:
    """Build wheel and source archive into dist, and again elsewhere: the same commit must give the same bits."""
    for old in DIST.glob("clausal-*"):
        old.unlink()
    _build(DIST)
    with tempfile.TemporaryDirectory() as again:
        _build(Path(again))
        for first in DIST.glob("clausal-*"):
            digests = [hashlib.sha256(path.read_bytes()).hexdigest() for path in (first, Path(again) / first.name)]
            _expect(digests[0] == digests[1], f"{first.name}: two builds differ")
            print(f"{first.name}: {first.stat().st_size:,} bytes, sha256 {digests[0]}")
    return next(DIST.glob("*.whl")), next(DIST.glob("*.tar.gz"))


def _build(target: Path) -> None:
    commit = subprocess.run(
        ["git", "log", "-1", "--format=%ct"], cwd=REPOSITORY, capture_output=True, text=True, check=True
    )
    environment = os.environ | {"SOURCE_DATE_EPOCH": commit.stdout.strip()}
    command = [sys.executable, "-m", "build", "--outdir", str(target), str(REPOSITORY)]
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)


def _check_wheel(wheel: Path, version: str) -> None:
    """Look at names and metadata of the wheel."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        metadata = next(name for name in names if name.endswith(".dist-info/METADATA"))
        headers = HeaderParser().parsestr(archive.read(metadata).decode())
    tops = {name.split("/")[0] for name in names}
    _expect(tops == {"clausal", "clausal_paper", f"clausal-{version}.dist-info"}, f"unexpected in the wheel: {tops}")
    for name in ("clausal/py.typed", "clausal/logic/grammar.lark", "clausal/serve/static/index.html"):
        _expect(name in names, f"missing in the wheel: {name}")
    _expect(headers["Version"] == version, f"the wheel's version is {headers['Version']}, not {version}")
    _expect(bool(headers["License-Expression"]), "the wheel names no licence")
    subprocess.run([sys.executable, "-m", "twine", "check", "--strict", *map(str, DIST.glob("clausal-*"))], check=True)


def _check_changelog(version: str) -> None:
    heading = "[Unreleased]" if "dev" in version else f"[{version}]"
    text = (REPOSITORY / "CHANGELOG.md").read_text(encoding="utf-8")
    _expect(f"## {heading}" in text, f"CHANGELOG.md has no section {heading}")


def _test(source: Path, folder: Path, python: str, whole: bool) -> None:
    """Unpack the source archive and run its tests, or those of the docs alone, against the installed wheel."""
    with tarfile.open(source) as archive:
        archive.extractall(folder, filter="data")
    unpacked = folder / source.name.removesuffix(".tar.gz")
    pip = [python, "-m", "pip", "install", "--quiet", *CONSTRAINTS]
    subprocess.run([*pip, "--group", f"{unpacked / 'pyproject.toml'}:test"], check=True)
    command = [
        python,
        "-m",
        "pytest",
        "--numprocesses",
        "auto",
        "--dist",
        "loadfile",
        *([] if whole else ["tests/docs"]),
    ]
    subprocess.run(command, cwd=unpacked, check=True)


def _expect(condition: bool, otherwise: str) -> None:
    if not condition:
        sys.exit(f"error: {otherwise}")


if __name__ == "__main__":
    main()
