"""The measurement of conjunctions compares adversaries on the same bases, none of which settings were chosen on."""

from __future__ import annotations

import json

import numpy as np

from clausal_paper.synthetic import conjunctions
from clausal_paper.synthetic.cells import CellResult


def test_bases_for_the_report_are_not_those_that_settings_were_chosen_on():
    assert not set(range(100, 200)) & {*conjunctions.FRESH, *conjunctions.REPORTED}


def test_only_the_weight_of_transitive_clauses_differs_from_the_defaults_of_the_closed_form():
    for cell in conjunctions.conjunction_cells():
        clauses = cell.settings().clauses
        transitive = (cell.clause_type, cell.adversary) == ("transitivity", "closed-form")
        assert (clauses.semantics, clauses.region) == ("godel", "auto")
        assert (clauses.weight < 1) == transitive


def test_every_area_is_written_beside_mean_standard_error_and_settings(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)

    def run(cell, settings, seeds):
        areas = tuple(rng.uniform(40, 80, len(seeds)).tolist())
        return CellResult(areas, areas, 1.5)

    monkeypatch.setattr(conjunctions, "run_cell", run)
    conjunctions.main(tmp_path / "report.json")
    report = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert len(report["cells"]) == 24
    for record in report["cells"]:
        areas = np.array(record["areas"])
        assert len(areas) == len(report["seeds"][record["part"]])
        assert abs(record["mean"] - areas.mean()) < 0.01
        assert abs(record["standard_error"] - areas.std(ddof=1) / len(areas) ** 0.5) < 0.01
        assert record["settings"]["model"]["domain"] == "cube"
