"""Pre-trained vectors come back by name from every format; every bad file is explained in one message."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from clausal.errors import InputError
from clausal.graph import Names
from clausal.model.pretrained import read_vectors

NAMES = Names(["ann", "bob", "new york"], "entity")
VECTORS = np.array([[1.0, 2.5], [3.0, -4.0], [0.125, 6.0]], dtype=np.float32)
SHUFFLED = [2, 0, 1]


def npy_header(text):
    """The beginning of a .npy file with this header, whatever it says."""
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode()


FOUR_BITS = b'{"a":{"dtype":"F4","shape":[3,2],"data_offsets":[0,3]}}'
SAFETENSORS_OF_FOUR_BITS = len(FOUR_BITS).to_bytes(8, "little") + FOUR_BITS + bytes(3)


@pytest.fixture
def names_file(tmp_path):
    path = tmp_path / "names.txt"
    path.write_text("\n".join(["unused", *(NAMES[row] for row in SHUFFLED)]) + "\n", encoding="utf-8")
    return path


def shuffled_with_an_unused_row():
    return np.concatenate([[[9.0, 9.0]], VECTORS[SHUFFLED]])


def write(path, content):
    if path.suffix == ".npy":
        np.save(path, content)
    else:
        save_file(content if isinstance(content, dict) else {"any": torch.as_tensor(content)}, path)
    return path


@pytest.mark.parametrize("ending", ["npy", "safetensors"])
def test_rows_without_names_follow_the_vocabulary(tmp_path, ending):
    path = write(tmp_path / f"vectors.{ending}", VECTORS)
    vectors = read_vectors(path, NAMES, 2)
    assert vectors.dtype == torch.float32
    assert vectors.tolist() == VECTORS.tolist()


@pytest.mark.parametrize("ending", ["npy", "safetensors"])
def test_rows_with_names_are_found_by_name(tmp_path, ending, names_file):
    path = write(tmp_path / f"vectors.{ending}", shuffled_with_an_unused_row())
    assert read_vectors(path, NAMES, 2, names_file).tolist() == VECTORS.tolist()


def test_of_several_tensors_the_one_called_entities_is_read(tmp_path):
    path = write(tmp_path / "v.safetensors", {"entities": torch.from_numpy(VECTORS), "relations": torch.zeros(1)})
    assert read_vectors(path, NAMES, 2).tolist() == VECTORS.tolist()


@pytest.mark.parametrize("dtype", [torch.float64, torch.float16, torch.bfloat16])
def test_safetensors_of_any_float_type_are_read(tmp_path, dtype):
    path = write(tmp_path / "v.safetensors", {"v": torch.from_numpy(VECTORS).to(dtype)})
    assert read_vectors(path, NAMES, 2).tolist() == VECTORS.tolist()  # these values are exact in each type


@pytest.mark.parametrize("header", ["", "3 2\n"])
def test_word2vec_text_names_its_rows_itself(tmp_path, header):
    path = tmp_path / "vectors.txt"
    lines = [f"{NAMES[row]} {' '.join(str(value) for value in VECTORS[row])}" for row in (1, 0, 2)]
    path.write_text(header + "\n".join(lines) + "\n", encoding="utf-8")
    assert read_vectors(path, NAMES, 2).tolist() == VECTORS.tolist()


def refuse(path, complaint, *, dim=2):
    with pytest.raises(InputError, match=complaint) as caught:
        read_vectors(path, NAMES, dim)
    assert str(caught.value).startswith(f"{path}:")


def test_a_missing_file_is_named(tmp_path):
    refuse(tmp_path / "none.npy", "no such file of vectors")


def test_a_missing_file_of_names_is_named(tmp_path):
    path = write(tmp_path / "v.npy", VECTORS)
    with pytest.raises(InputError, match=r"names\.txt: no such file of names \(model\.pretrained_names\)"):
        read_vectors(path, NAMES, 2, tmp_path / "names.txt")


def test_a_folder_in_place_of_the_names_is_named(tmp_path):
    path = write(tmp_path / "v.npy", VECTORS)
    with pytest.raises(InputError, match=f"{tmp_path}: a folder; expected a file"):
        read_vectors(path, NAMES, 2, tmp_path)


def test_names_that_are_not_utf8_are_refused(tmp_path):
    path = write(tmp_path / "v.npy", VECTORS)
    names = tmp_path / "latin.txt"
    names.write_bytes("é\n".encode("latin-1"))
    with pytest.raises(InputError, match=r"latin\.txt: not UTF-8"):
        read_vectors(path, NAMES, 2, names)


def test_names_at_no_path_are_refused(tmp_path):
    path = write(tmp_path / "v.npy", VECTORS)
    with pytest.raises(InputError, match="not a path: it holds a NUL character"):
        read_vectors(path, NAMES, 2, "a\0b")


def test_vectors_of_another_dimension_are_refused(tmp_path):
    refuse(
        write(tmp_path / "v.npy", VECTORS), r"expected vectors of 3 numbers \(model\.dim\); got shape \[3, 2\]", dim=3
    )
    refuse(write(tmp_path / "flat.npy", VECTORS[0]), r"got shape \[2\]")


def test_another_number_of_rows_is_refused(tmp_path):
    refuse(write(tmp_path / "v.npy", VECTORS[:2]), r"2 vectors for 3 names; give model\.pretrained_names")


def test_an_entity_without_a_vector_is_named(tmp_path):
    path = tmp_path / "v.vec"
    path.write_text("ann 1 2\ncarl 3 4\n", encoding="utf-8")
    refuse(path, "no vector for 2 of 3 entities, such as 'bob', 'new york'")


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e300])
def test_the_row_of_a_value_that_is_not_finite_is_named(tmp_path, bad):
    vectors = VECTORS.astype(np.float64)
    vectors[1, 0] = bad
    refuse(write(tmp_path / "v.npy", vectors), "row 2 has a value that is not finite")


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [
        ("v.npy", b"not numpy", "not a .npy file of numbers"),
        ("v.npy", b"", "not a .npy file of numbers"),
        ("v.safetensors", b"not safetensors", "not a safetensors file"),
        ("v.txt", b"", "empty file of vectors"),
        ("v.txt", b"3 2\n", "empty file of vectors"),
        ("v.txt", b"ann 1 \xff\n", "not word2vec text"),
        ("v.npy", npy_header("{'descr': '<f4'"), "not a .npy file of numbers, or a damaged one"),
        ("v.npy", npy_header("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999, 2)}"), "damaged one"),
        ("v.npy", b"PK\x03\x04", "not a .npy file of numbers"),
        ("v.txt", "² ²\n".encode(), "v.txt:1: expected a name and 1 numbers"),
        ("v.txt", b"3 " + b"9" * 5000 + b"\nann 1 2\n", "expected vectors of 2 numbers"),
        ("v.safetensors", SAFETENSORS_OF_FOUR_BITS, "float32"),
    ],
)
def test_damaged_files_are_explained(tmp_path, name, content, complaint):
    (tmp_path / name).write_bytes(content)
    refuse(tmp_path / name, complaint)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("ann 1 2\nbob 1\n", 2),
        ("ann 1 2\nbob 1 two\n", 2),
        ("3 2\nann 1 2\n\n", 3),
        ("ann\n", 1),
    ],
)
def test_a_bad_line_of_word2vec_text_is_named(tmp_path, text, line):
    path = tmp_path / "v.txt"
    path.write_text(text, encoding="utf-8")
    refuse(path, rf"v\.txt:{line}: expected a name and")


def test_arrays_of_objects_are_never_unpickled(tmp_path):
    path = tmp_path / "v.npy"
    np.save(path, np.array([{"a": 1}], dtype=object), allow_pickle=True)
    refuse(path, "not a .npy file of numbers")


@pytest.mark.parametrize("tensors", [{}, {"a": torch.zeros(3, 2), "b": torch.zeros(3, 2)}])
def test_safetensors_without_one_clear_tensor_are_refused(tmp_path, tensors):
    refuse(write(tmp_path / "v.safetensors", tensors), f"found {', '.join(tensors) or 'none'}")
