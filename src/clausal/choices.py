"""What settings, arguments and options can be, declared once: settings, Python's functions and commands read it here.

Nothing here imports torch. The flags of a scorer are those of its class, which a test compares with this table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

SemanticsName = Literal["godel", "sum", "threshold", "product", "lukasiewicz"]
RegionName = Literal["auto", "domain", "hull", "discs", "roles"]
"""The model's domain; the box of its entities; discs around 0 with its entities; the box of a variable's entities.

``auto`` is the domain if it is bounded, the hull on the cone, else discs for scorers of complex numbers, else the hull.
"""
AscentName = Literal["adagrad", "sgd", "alternating"]
"""How an adversary climbs: by AdaGrad, by plain gradient steps, or by the best vector of one variable in turn."""
Ties = Literal["realistic", "optimistic", "pessimistic"]
"""Where a fact ranks among those of the same score: in the middle, before them or after them."""
Filter = Literal["full", "partial"]
"""Which known facts are taken out of the ranking of a part of test: all, or none of the other parts."""
RankingName = Literal["model", "entailed", "rules", "fused"]
"""By the model's scores, with what train entails before all else, by votes of rules alone, or by both fused."""
BASE_IRI = "urn:clausal:name:"
"""What stands in RDF before a name that is no IRI."""
NameStyle = Literal["short", "label", "full"]
"""How names are shown: IRIs with a prefix or by their last part; labels in the user's language; or as they are."""

UnknownNames = Literal["refuse", "skip"]
"""What to do with facts that have a name which the graph does not have: refuse all, or leave these out."""
Metric = Literal["cosine", "dot", "euclidean"]
"""How near two vectors are: by their angle, by their inner product, or by their distance."""
VectorKind = Literal["entity", "relation"]
"""What has a vector."""


class ScorerKind(NamedTuple):
    """What the settings must know of a scorer."""

    halved: bool = False
    """Whether an entity's vector has two halves, and so an even number of parameters."""
    multilinear: bool = False
    """Whether the score is linear in each of its vectors, as regularisers of facts assume."""
    trilinear: bool = False
    """Whether the score is a sum of trilinear terms, from which relations can be predicted too."""
    pairs: bool = False
    """Whether it has a vector for each pair of entities, and none for each entity."""


SCORERS = {
    "distmult": ScorerKind(multilinear=True, trilinear=True),
    "complex": ScorerKind(halved=True, multilinear=True, trilinear=True),
    "transe": ScorerKind(),
    "rescal": ScorerKind(multilinear=True),
    "simple": ScorerKind(halved=True, multilinear=True, trilinear=True),
    "cp": ScorerKind(halved=True, multilinear=True, trilinear=True),
    "rotate": ScorerKind(halved=True),
    "hole": ScorerKind(multilinear=True),
    "er-mlp": ScorerKind(),
    "model-f": ScorerKind(multilinear=True, pairs=True),
}

if TYPE_CHECKING:
    ScorerName = str
else:
    ScorerName = Literal[tuple(SCORERS)]

RDF_ENDINGS = {
    ".ttl": "TURTLE",
    ".n3": "N3",
    ".nt": "N_TRIPLES",
    ".nq": "N_QUADS",
    ".trig": "TRIG",
    ".rdf": "RDF_XML",
    ".owl": "RDF_XML",
    ".xml": "RDF_XML",
    ".jsonld": "JSON_LD",
}
"""The endings of RDF files, with pyoxigraph's names of their syntaxes."""
