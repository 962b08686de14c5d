"""Vectors that describe entities: every format comes back by name, and every bad file is explained."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from safetensors.numpy import save_file

import clausal
from clausal.config import Settings
from clausal.errors import InputError
from clausal.model.describing import describe
from clausal.model.pretrained import read_named_vectors
from clausal.observer import Observer

GRAPH = clausal.Graph.from_triples([("ann", "knows", "bob"), ("bob", "knows", "eve")])
VECTORS = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [0.5, 0.25, 0.125]], np.float32)


class Heard(Observer):
    def __init__(self):
        self.sentences = []

    def message(self, text):
        self.sentences.append(text)


def described(path, names=None):
    heard = Heard()
    about = {"vectors": str(path)} | ({} if names is None else {"names": str(names)})
    features = describe(GRAPH, Settings.from_mapping({"descriptions": about}), heard)
    return features[0], heard.sentences


def test_the_formats_say_the_same(tmp_path):
    names = ["eve", "ann", "bob"]
    (tmp_path / "names.txt").write_text("\n".join(names))
    np.save(tmp_path / "x.npy", VECTORS)
    save_file({"entities": VECTORS}, tmp_path / "x.safetensors")
    lines = (f"{name} {' '.join(map(str, row))}\n" for name, row in zip(names, VECTORS, strict=True))
    (tmp_path / "x.txt").write_text("3 3\n" + "".join(lines))
    pq.write_table(pa.table({"name": names, "vector": list(VECTORS)}), tmp_path / "x.parquet")
    for name in ("x.npy", "x.safetensors", "x.txt", "x.parquet"):
        given = tmp_path / "names.txt" if name in ("x.npy", "x.safetensors") else None
        found, vectors = read_named_vectors(tmp_path / name, list(GRAPH.entities), given)
        assert found == names, name
        np.testing.assert_array_equal(vectors, VECTORS)


def test_vectors_are_brought_around_zero_and_to_one_length(tmp_path):
    np.save(tmp_path / "x.npy", 100 + 7 * VECTORS)
    rows = described(tmp_path / "x.npy")[0].rows.vectors.numpy()
    np.testing.assert_allclose(rows.mean(0), 0, atol=1e-5)
    assert np.mean(np.square(rows).sum(1)) == pytest.approx(1, abs=1e-4)


def test_names_that_are_unknown_or_missing_are_told(tmp_path):
    (tmp_path / "x.txt").write_text("ann 1 2\nzoe 3 4\nbob 0 1\n")
    features, sentences = described(tmp_path / "x.txt")
    assert (features.rows.vectors[2] == 0).all()
    assert "1 vectors of names that graph does not have, such as 'zoe', left out" in sentences[0]
    assert "no vector for 1 of 3 entities, such as 'eve'" in sentences[1]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("ann 1 2\nann 3 4\n", "'ann' has more than one vector; keep one of them"),
        ("ann 1 nan\nbob 1 2\n", "row 1 has a value that is not finite"),
        ("ann 1 2\nbob 1\n", "x.txt:2: expected a name and 2 numbers"),
        ("ann 1 2\nbob 1 x\n", "x.txt:2: expected a name and 2 numbers"),
        ("zoe 1 2\n", "has a vector for no entity of graph; its names are such as 'zoe', and entities such as 'ann'"),
        ("", "empty file of vectors"),
    ],
)
def test_a_bad_text_file_is_refused(tmp_path, content, message):
    (tmp_path / "x.txt").write_text(content)
    with pytest.raises(InputError, match=message):
        described(tmp_path / "x.txt")


def test_other_bad_files_are_refused(tmp_path):
    with pytest.raises(InputError, match="no such file of vectors"):
        described(tmp_path / "none.npy")
    np.save(tmp_path / "two.npy", VECTORS[:2])
    with pytest.raises(InputError, match="2 vectors for 3 names; give the names of its rows"):
        described(tmp_path / "two.npy")
    np.save(tmp_path / "flat.npy", VECTORS[0])
    with pytest.raises(InputError, match="expected a vector for each name"):
        described(tmp_path / "flat.npy")
    pq.write_table(pa.table({"name": ["ann", "bob"], "vector": [[1.0, 2.0], [1.0]]}), tmp_path / "uneven.parquet")
    with pytest.raises(InputError, match="its vectors are of 2, 1 numbers; give all the same"):
        described(tmp_path / "uneven.parquet")
    pq.write_table(pa.table({"name": ["ann"], "x": [1.0]}), tmp_path / "other.parquet")
    with pytest.raises(InputError, match="expected the columns name and vector; found name, x"):
        described(tmp_path / "other.parquet")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"descriptions": {"names": "x"}}, "descriptions.names: are those of the rows of descriptions.vectors"),
        ({"descriptions": {"text": "x"}, "model": {"scorer": "model-f"}}, "or by model-f, not by both"),
        ({"descriptions": {"text": "x"}, "model": {"pretrained": "y"}}, "or by model.pretrained, not by both"),
        ({"facts": {"candidates": 5}}, 'candidates: set facts.training to "1-vs-all"'),
        ({"facts": {"candidates": 0, "training": "1-vs-all", "loss": "softmax"}}, "facts.candidates"),
        ({"descriptions": {"own_dropout": 2}}, "descriptions.own_dropout"),
    ],
)
def test_settings_that_do_not_fit_are_refused(values, message):
    with pytest.raises(InputError, match=message):
        Settings.from_mapping(values)


def test_sentence_embeddings_need_their_extra(tmp_path, monkeypatch):
    import sys

    (tmp_path / "x.tsv").write_text("ann\ta person\n")
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    settings = Settings.from_mapping({"descriptions": {"text": str(tmp_path / "x.tsv"), "encoder": "all-MiniLM"}})
    with pytest.raises(InputError, match=r"'all-MiniLM' needs sentence-transformers: pip install 'clausal\[text\]'"):
        describe(GRAPH, settings, Observer())


def test_sentence_embeddings_are_features(tmp_path, monkeypatch):
    """By a stand-in for the library: each text is as long as it is."""
    import sys
    from types import SimpleNamespace

    class Lengths:
        def __init__(self, name):
            if name != "lengths":
                raise OSError(f"{name} is not here")

        def encode(self, texts, **options):
            return np.array([[len(text), 1.0] for text in texts])

    monkeypatch.setitem(sys.modules, "sentence_transformers", SimpleNamespace(SentenceTransformer=Lengths))
    (tmp_path / "x.tsv").write_text("ann\ta person\nbob\tx\n")

    def features(encoder):
        about = {"text": str(tmp_path / "x.tsv"), "encoder": encoder}
        return describe(GRAPH, Settings.from_mapping({"descriptions": about}), Observer())[0]

    rows = features("lengths").rows.vectors
    assert rows[0, 0] == -rows[1, 0] > 0
    assert (rows[2] == 0).all()
    with pytest.raises(InputError, match="'other' cannot be loaded: other is not here"):
        features("other")
