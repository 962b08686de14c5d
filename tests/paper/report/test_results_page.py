"""The page of results: what stands in results/, next to the paper, with a mark where the two differ."""

import json
import re
from pathlib import Path

import pytest

from clausal.errors import InputError
from clausal_paper.report import results_page
from clausal_paper.synthetic.cells import paper_cells
from clausal_paper.tables.rows import PAPER_TABLES
from clausal_paper.tables.training import describe, settings_of

REPOSITORY = Path(__file__).resolve().parents[3]
CHOSEN = ("model.dim=30", "facts.margin=7", "clauses.weight=5", "clauses.sets=3", "clauses.steps=4")
MADE = {"versions": {"torch": "2.99"}, "hardware": "an abacus", "date": "2026-01-01"}


def made_up(row, seed, shift=0.0):
    """A record with the paper's figures, all of them shifted; MRR by the shift, Hits by so many times 100."""
    part = {
        part: {name: value / (1 if name == "mrr" else 100) + shift for name, value in figures.items()}
        for part, figures in row.paper.items()
    }
    ties = {"realistic": part, "optimistic": part}
    return {
        "table": row.table,
        "row": row.name,
        "seed": seed,
        "settings": describe(settings_of(row, seed, CHOSEN)),
        "clauses": 0,
        "best_epoch": 90,
        "seconds": 10.0,
        "metrics": {"full": ties} if row.share else {"full": ties, "partial": ties},
        **MADE,
    }


def write_records(folder, table, shifts):
    target = folder / "paper" / table
    target.mkdir(parents=True)
    for row in PAPER_TABLES[table]:
        for seed, shift in enumerate(shifts) if row.paper else ():
            (target / f"{row.name}-seed{seed}.json").write_text(json.dumps(made_up(row, seed, shift)))
    return target


def lines_of(page, heading):
    return page.partition(f"## {heading}\n")[2].partition("\n## ")[0]


def test_the_committed_page_is_that_of_the_committed_results():
    page = (REPOSITORY / "docs" / "results.md").read_text(encoding="utf-8")
    assert page == results_page(REPOSITORY / "results"), "run `make docs`"


def test_cells_are_paper_arrow_mean_and_spread(tmp_path):
    write_records(tmp_path, "fb122", (0.0, 0.004))
    section = lines_of(results_page(tmp_path), "FB122")
    assert (
        "| ASR-ComplEx | 71.7 → 71.9 ± 0.3 | 73.6 → 73.8 ± 0.3 | 75.7 → 75.9 ± 0.3 | 0.698 → 0.700 ± 0.003 |" in section
    )
    assert "Of 108 cells, 108 agree with the paper, 0 are above it ▲ and 0 below ▼." in section
    assert "an abacus; torch 2.99; 2026-01-01" in section
    assert re.search(r"k = 30, \w+, γ = 7, adversary gradient, α = 5, B = 3, τ_a = 4", section)


@pytest.mark.parametrize(("shift", "mark"), [(0.02, "▲"), (-0.02, "▼")])
def test_cells_that_differ_are_marked_and_those_below_are_listed(tmp_path, shift, mark):
    write_records(tmp_path, "wn18", (shift,))
    section = lines_of(results_page(tmp_path), "WN18")
    tables = [line for line in section.splitlines() if line.startswith("| ComplEx | 8")]
    assert tables[0].count(mark) == 4
    listed = re.findall(r"^- ComplEx, Test-ALL, MRR: 0\.020 below$", section, re.MULTILINE)
    assert len(listed) == (shift < 0)


def test_limited_data_has_two_metrics_of_all_of_test(tmp_path):
    write_records(tmp_path, "wn18-limited", (0.0,))
    section = lines_of(results_page(tmp_path), "WN18 with limited training data")
    assert "| ComplEx, 20% | 38.9 → 38.9 | 0.356 → 0.356 |" in section
    assert "Of 16 cells, 16 agree" in section


def test_notes_are_part_of_the_page(tmp_path):
    folder = write_records(tmp_path, "fb122", (0.0,))
    (folder / "notes.md").write_text("A remark about margins.\n")
    assert "A remark about margins." in lines_of(results_page(tmp_path), "FB122")


def test_a_table_without_records_says_so(tmp_path):
    assert "Nothing has been trained" in lines_of(results_page(tmp_path), "WN18")
    assert "Beyond" not in results_page(tmp_path)


def test_synthetic_cells_more_than_five_points_below_are_marked(tmp_path):
    cells = [
        {
            "clauses": cell.clause_type,
            "scorer": cell.scorer,
            "domain": cell.domain,
            "adversary": cell.adversary,
            "paper": area,
            "mean": area - (6 if number == 0 else 4),
            "spread": 3.0,
            "cpu_seconds": 2.0 if cell.adversary == "closed-form" else 8.0,
        }
        for number, (cell, area) in enumerate(paper_cells())
    ]
    (tmp_path / "paper").mkdir()
    (tmp_path / "paper" / "synthetic.json").write_text(json.dumps({"seeds": [0, 1], "cells": cells, **MADE}))
    section = lines_of(results_page(tmp_path), "Synthetic knowledge bases")
    assert section.count("▼") == 2  # one cell, and the sentence that says what it means
    assert "51 of 52 cells" in section
    assert "Closed form took 0.25 of the CPU time" in section
    assert section.count("| holds |") == 8  # of ten claims, on the paper's own numbers: not the cube in every cell


def test_a_file_that_is_no_record_is_refused(tmp_path):
    folder = write_records(tmp_path, "fb122", ())
    (folder / "stray.json").write_text("{}")
    with pytest.raises(InputError, match=r"stray.json: not a record"):
        results_page(tmp_path)
