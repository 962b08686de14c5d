"""How often clauses hold in a graph: support, standard and PCA confidence, counted in SQL on DuckDB."""

from clausal.logic.measures.measure import Measures, confident_clauses, measure_clauses, weigh_clauses

__all__ = ["Measures", "confident_clauses", "measure_clauses", "weigh_clauses"]
