"""Draw `docs/figures/report.png`: the first screen of the report of the demo's run, in light and dark side by side.

It needs Chromium (Debian's package `chromium`) and Pillow, which matplotlib brings:

    python tools/report_picture.py docs/figures/report.png
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

from clausal import load, train
from clausal.demo import SETTINGS, world
from clausal.report import make_report

WIDTH, HEIGHT = 760, 980


def screenshot(page: Path, picture: Path, *, dark: bool) -> None:
    """Take a picture of a page as Chromium shows it."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if browser is None:
        sys.exit("Chromium is not installed; on Debian: apt-get install chromium")
    scheme = ["--blink-settings=preferredColorScheme=0"] if dark else []
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--window-size={WIDTH},{HEIGHT}"]
    command = [browser, *options, *scheme, f"--screenshot={picture}", page.as_uri()]
    subprocess.run(command, check=True, capture_output=True)


def main() -> None:
    """Train as the demo does, or take its run; write the report and its picture."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--run", type=Path, help="run directory of the demo (clausal demo --out RUN)")
    given = parser.parse_args()
    run = load(given.run) if given.run else train(*world(), SETTINGS)
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        page.write_text(make_report(run), encoding="utf-8")
        both = Image.new("RGB", (2 * WIDTH, HEIGHT))
        for place, dark in enumerate((False, True)):
            screenshot(page, Path(folder) / "shot.png", dark=dark)
            both.paste(Image.open(Path(folder) / "shot.png"), (place * WIDTH, 0))
    both.save(given.out, optimize=True)


if __name__ == "__main__":
    main()
