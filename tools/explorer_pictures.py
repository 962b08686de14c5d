"""Make the pictures of the explorer in docs/figures from the runs of the demo, in a real Chromium.

    clausal demo --out .demo/world
    python tools/explorer_pictures.py .demo/world .demo/world-without

Needs the extra `serve`, the test dependencies and Chromium.
"""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlencode

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

FIGURES = Path(__file__).parents[1] / "docs" / "figures"
COLOURS = 192
RESCUED = {"subject": "South Africa", "relation": "borders", "object": "Eswatini"}
CHAIN = {"subject": "Kuwait City", "relation": "located_in", "object": "Kuwait"}


def _type(page: Page) -> None:
    page.locator("#search input").fill("Spain bor")
    page.wait_for_selector("[role=option]")


def _grow(page: Page) -> None:
    page.locator('.network [data-name="France"]').click()
    page.wait_for_selector(".graph-note a")


SCREENS: dict[str, tuple[str, dict[str, str], int, Callable[[Page], None] | None]] = {
    "start": ("", {}, 800, None),
    "search": ("", {}, 420, _type),
    "entity": ("entity", {"name": "Spain"}, 1000, _grow),
    "relation": ("relation", {"name": "borders"}, 760, None),
    "question": ("question", {"subject": "South Africa", "relation": "borders"}, 760, None),
    "why": ("fact", CHAIN, 740, None),
    "why-not": ("fact", {"subject": "Madrid", "relation": "capital_of", "object": "Europe"}, 620, None),
    "clauses": ("clauses", {}, 720, None),
    "clause": ("clause", {"id": "7"}, 1500, None),
    "what-if": ("whatif", {"off": "3", "query": "borders(South Africa, ?)"}, 1000, None),
    "training": ("training", {}, 900, None),
    "comparison": ("compare", {"query": "borders(South Africa, ?)"}, 900, None),
    "export": ("export", {}, 620, None),
}


def main(*runs: str) -> None:
    """Serve the runs, and write a picture of each screen."""
    command = [sys.executable, "-m", "clausal", "serve", *runs, "--port", "0"]
    service = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert service.stdout is not None
    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
    try:
        address = service.stdout.readline().strip()
        with sync_playwright() as driver:
            browser = driver.chromium.launch(executable_path=path, args=["--no-sandbox"] if os.geteuid() == 0 else [])
            draw(browser, address)
            browser.close()
    finally:
        service.terminate()
        service.wait()


def draw(browser: Browser, address: str) -> None:
    """Write the pictures of a service."""
    page = browser.new_page(viewport={"width": 1160, "height": 800}, color_scheme="light")
    _open(page, address, "clauses", {})
    page.get_by_role("button", name="Certify").click()
    page.wait_for_selector(".verdict", timeout=120_000)
    for name, (where, params, height, then) in SCREENS.items():
        page.set_viewport_size({"width": 1160, "height": height})
        _open(page, address, where, params)
        if then is not None:
            then(page)
        _save(page, name)
    options = {"viewport": {"width": 390, "height": 844}, "color_scheme": "dark"}
    for name, where, params in (("phone", "fact", RESCUED), ("phone-start", "", {})):
        page = browser.new_page(**options)  # type: ignore[arg-type]
        _open(page, address, where, params)
        _save(page, name)


def _open(page: Page, address: str, where: str, params: dict[str, str]) -> None:
    page.goto("about:blank")
    page.goto(f"{address}/#/{where}?{urlencode(params)}")
    page.wait_for_selector("main[data-drawn]")
    page.wait_for_timeout(300)


def _save(page: Page, name: str) -> None:
    picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    file = FIGURES / f"explorer-{name}.png"
    picture.quantize(COLOURS, dither=Image.Dither.NONE).save(file, optimize=True)
    print(f"{file.name}: {file.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main(*sys.argv[1:])
