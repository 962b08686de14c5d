"""The page of results: what stands in results/, next to the paper, with a mark where the two differ."""

import json
import re
from pathlib import Path

import pytest

from clausal.errors import InputError
from clausal_paper.report import results_page
from clausal_paper.synthetic.cells import own_cells, paper_cells
from clausal_paper.tables.rows import PAPER_TABLES
from clausal_paper.tables.training import describe, settings_of

REPOSITORY = Path(__file__).resolve().parents[3]
CHOSEN = ("model.dim=30", "facts.margin=7", "clauses.weight=5", "clauses.sets=3", "clauses.steps=4")
MADE = {"versions": {"torch": "2.99"}, "hardware": "an abacus", "date": "2026-01-01"}


def metrics_of(row, shift):
    """The paper's figures, all of them shifted; MRR by the shift, Hits by so many times 100."""
    part = {
        part: {name: value / (1 if name == "mrr" else 100) + shift for name, value in figures.items()}
        for part, figures in row.paper.items()
    }
    ties = {"realistic": part, "optimistic": part}
    return {"full": ties} if row.share else {"full": ties, "partial": ties}


def made_up(row, seed, shift=0.0):
    """A record whose best epoch has the paper's figures, shifted, and whose last epoch has 0.02 more."""
    return {
        "table": row.table,
        "row": row.name,
        "seed": seed,
        "settings": describe(settings_of(row, seed, CHOSEN)),
        "clauses": 0,
        "best_epoch": 90,
        "seconds": 10.0,
        "metrics": metrics_of(row, shift),
        "last": metrics_of(row, shift + 0.02),
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


def test_cells_are_paper_best_epoch_and_last_with_spread(tmp_path):
    write_records(tmp_path, "fb122", (0.0, 0.004))
    section = lines_of(results_page(tmp_path), "FB122")
    (mrr, partial) = [line for line in section.splitlines() if line.startswith("| ASR-ComplEx | 0.3")]
    assert mrr.endswith("| 0.698 | 0.700 ± 0.003 | 0.720 ± 0.003 ▲ | 2 |")
    assert partial == mrr
    assert "| ASR-ComplEx | 71.7 | 71.9 ± 0.3 | 73.9 ± 0.3 ▲ | 73.6 | 73.8 ± 0.3 | 75.8 ± 0.3 ▲ |" in section
    assert "By the best epoch, of 108 cells of MRR and Hits 108 agree with the paper, 0 are above it" in section
    assert "By the last epoch, of 108 cells of MRR and Hits 0 agree with the paper, 108 are above it" in section
    assert "an abacus; torch 2.99; 2026-01-01" in section
    assert re.search(r"k = 30, \w+, γ = 7, adversary gradient, α = 5, B = 3, τ_a = 4", section)


def test_where_the_best_pass_of_kale_is_its_last_it_is_shown_as_both(tmp_path):
    folder = write_records(tmp_path, "fb122", (0.0,))
    path = folder / "transe-seed0.json"
    record = json.loads(path.read_text())
    del record["last"]
    for best_epoch, last in ((record["settings"]["kale"]["passes"], "0.480"), (50, "–")):
        path.write_text(json.dumps(record | {"best_epoch": best_epoch}))
        section = lines_of(results_page(tmp_path), "FB122")
        line = next(line for line in section.splitlines() if line.startswith("| TransE | 0.296"))
        assert line.endswith(f"| 0.480 | 0.480 | {last} | 1 |")


@pytest.mark.parametrize(("shift", "mark"), [(0.02, "▲"), (-0.02, "▼")])
def test_cells_that_differ_are_marked(tmp_path, shift, mark):
    write_records(tmp_path, "wn18", (shift,))
    section = lines_of(results_page(tmp_path), "WN18")
    tables = [line for line in section.splitlines() if line.startswith("| ComplEx | 0.8")]
    assert tables[0].count(mark) == (6 if shift > 0 else 3)


def test_limited_data_has_two_metrics_of_all_of_test(tmp_path):
    write_records(tmp_path, "wn18-limited", (0.0,))
    section = lines_of(results_page(tmp_path), "WN18 with limited training data")
    assert "| ComplEx, 20% | 0.356 | 0.356 | 0.376 ▲ | 38.9 | 38.9 | 40.9 ▲ | 1 |" in section
    assert "of 16 cells of MRR and Hits 16 agree" in section


def test_notes_are_part_of_the_page(tmp_path):
    folder = write_records(tmp_path, "fb122", (0.0,))
    (folder / "notes.md").write_text("A remark about margins.\n")
    assert "A remark about margins." in lines_of(results_page(tmp_path), "FB122")


def test_a_table_without_records_says_so(tmp_path):
    assert "Nothing has been trained" in lines_of(results_page(tmp_path), "WN18")
    assert "Beyond" not in results_page(tmp_path)


def synthetic_cells(**shifts):
    """The paper's cells; by adversary, areas are shifted, and by 4 points down where no shift is given."""
    return [
        {
            "clauses": cell.clause_type,
            "scorer": cell.scorer,
            "domain": cell.domain,
            "adversary": cell.adversary,
            "paper": area,
            "mean": area + shifts.get(cell.adversary, -4),
            "trapezoid": area + shifts.get(cell.adversary, -4) - 0.5,
            "spread": 3.0,
            "cpu_seconds": 2.0 if cell.adversary == "closed-form" else 8.0,
        }
        for cell, area in paper_cells()
    ]


def write_synthetic(folder, name, cells):
    (folder / "paper").mkdir(exist_ok=True)
    (folder / "paper" / name).write_text(json.dumps({"seeds": [0, 1], "cells": cells, **MADE}))


def test_synthetic_cells_more_than_five_points_below_are_marked(tmp_path):
    cells = synthetic_cells()
    cells[0]["mean"] -= 2
    write_synthetic(tmp_path, "synthetic.json", cells)
    page = results_page(tmp_path)
    section = lines_of(page, "Synthetic knowledge bases")
    assert section.count("▼") == 2  # one cell, and the sentence that says what it means
    assert "51 of 52 cells" in section
    assert "Closed form took 0.25 of the CPU time" in section
    assert "Areas by trapezoids are 0.5 points lower in the mean, by -1.5 to 0.5." in section
    assert "by the paper's text, which has" not in section
    claims = lines_of(page, "What the paper claims")
    assert claims.count("| holds | – | – |") == 9  # of 11, on the paper's own numbers: not the cube in every cell


def test_means_of_our_own_adversaries_stand_beside_asr_once_all_their_cells_are_there(tmp_path):
    paper = synthetic_cells(gradient=0)
    own = [
        {**paper[0], "clauses": cell.clause_type, "scorer": cell.scorer, "domain": cell.domain}
        | {"adversary": cell.adversary, "paper": None, "mean": 60.0 if cell.domain == "cube" else 50.0}
        for cell, _ in own_cells()
    ]
    write_synthetic(tmp_path, "synthetic.json", paper + own)
    section = lines_of(results_page(tmp_path), "Synthetic knowledge bases")
    assert "| ASR | 72.9 | 68.3 |" in section  # the means of the paper's figures
    assert "| grounded | 60.0 | 50.0 |" in section
    write_synthetic(tmp_path, "synthetic.json", paper + own[1:])
    assert "In the mean of the ten cells" not in lines_of(results_page(tmp_path), "Synthetic knowledge bases")


def test_synthetic_cells_of_the_text_stand_beside_those_of_the_scripts(tmp_path):
    write_synthetic(tmp_path, "synthetic.json", synthetic_cells())
    write_synthetic(tmp_path, "synthetic-text.json", synthetic_cells(gradient=-6, none=50))
    page = results_page(tmp_path)
    section = lines_of(page, "Synthetic knowledge bases")
    assert "0 of 20 cells are within 5 points" in section
    assert "| symmetry | ComplEx | 90.6 | 86.6 ± 3.0 | 84.6 ± 3.0 ▼ | 91.2 | 87.2 ± 3.0 | 85.2 ± 3.0 ▼ |" in section
    (line,) = [line for line in page.splitlines() if line.startswith("| clauses help")]
    assert line.count("| holds |") == 1
    assert line.endswith("| does not hold |")


def test_a_file_that_is_no_record_is_refused(tmp_path):
    folder = write_records(tmp_path, "fb122", ())
    (folder / "stray.json").write_text("{}")
    with pytest.raises(InputError, match=r"stray.json: not a record"):
        results_page(tmp_path)
