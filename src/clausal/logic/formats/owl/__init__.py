"""Ontologies: axioms of OWL and RDFS, in any syntax of RDF, as clauses over IRIs, and clauses as axioms."""

from clausal.logic.formats.owl.reading import read
from clausal.logic.formats.owl.triples import fits_file
from clausal.logic.formats.owl.writing import WRITTEN, write

__all__ = ["WRITTEN", "fits_file", "read", "write"]
