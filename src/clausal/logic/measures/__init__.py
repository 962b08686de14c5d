"""How often clauses hold in a graph: support, standard and PCA confidence, counted in SQL on DuckDB."""

from clausal.logic.measures.measure import Measures, measure_clauses

__all__ = ["Measures", "measure_clauses"]
