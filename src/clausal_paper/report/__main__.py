"""``python -m clausal_paper.report FILE`` writes the page of results."""

from __future__ import annotations

import argparse
from pathlib import Path

from clausal.files import write_text
from clausal_paper.report import results_page

parser = argparse.ArgumentParser(description="Write the page of results from results/.")
parser.add_argument("file", type=Path, help="Markdown file to write")
parser.add_argument("--results", type=Path, default=Path("results"), help="folder of results")
given = parser.parse_args()
write_text(given.file, results_page(given.results))
