"""Features of entities: n-grams of their texts, sentence embeddings or given vectors, as rows for a linear map."""

from clausal.model.features.features import Features, features_of, more_features
from clausal.model.features.rows import DenseRows, Rows, SparseRows

__all__ = ["DenseRows", "Features", "Rows", "SparseRows", "features_of", "more_features"]
