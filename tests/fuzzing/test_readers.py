"""The fixed slice of the fuzzer, first part: all that reads files and text. More cases: ``make fuzz``."""

import pytest

from fuzzing.slices import check_slice


@pytest.mark.parametrize("name", ["tables", "databases", "rdf", "clauses", "rules", "vectors"])
def test_only_explained_errors_come_of_odd_files(name):
    check_slice(name)
