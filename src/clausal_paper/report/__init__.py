"""The page of results, written from the files under ``results/`` alone: the paper's numbers and ours side by side."""

from clausal_paper.report.page import results_page

__all__ = ["results_page"]
