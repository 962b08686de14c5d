"""Knowledge graphs: facts and their vocabulary, files, splits and known data sets."""

from clausal.graph.catalogue import DATASETS
from clausal.graph.datasets import dataset_clauses
from clausal.graph.facts import occur_in
from clausal.graph.graph import Facts, Graph
from clausal.graph.loading import load_graph
from clausal.graph.lookup import read_facts, read_labelled
from clausal.graph.splits import split_facts
from clausal.graph.vocabulary import Names
from clausal.graph.writers import write_facts, write_graph

__all__ = [
    "DATASETS",
    "Facts",
    "Graph",
    "Names",
    "dataset_clauses",
    "load_graph",
    "occur_in",
    "read_facts",
    "read_labelled",
    "split_facts",
    "write_facts",
    "write_graph",
]
