"""Messages of errors can be read, whatever they are about."""

import time

import pytest

from clausal.errors import InputError, RunError, did_you_mean

LONG = "x" * 200_000


@pytest.mark.parametrize("kind", [InputError, RunError])
@pytest.mark.parametrize("name", [LONG, "x y " * 50_000, "é" * 100_000])
def test_a_long_name_is_shortened_and_the_rest_is_kept(kind, name):
    message = str(kind(f"facts.tsv:3: unknown entity '{name}'; did you mean 'x'?\nanother line"))
    assert len(message) < 1100
    assert message.startswith(f"facts.tsv:3: unknown entity '{name[:80]}")
    assert message.endswith("; did you mean 'x'?\nanother line")
    assert "…" in message


def test_messages_of_usual_length_stay_as_they_are():
    message = f"{'folder/' * 40}facts.tsv:3: unknown entity 'x'\n" + "a line\n" * 300
    assert str(InputError(message)) == message


def test_long_names_are_not_compared():
    started = time.perf_counter()
    assert did_you_mean(LONG, [LONG[1:] + "y"]) == ""
    assert did_you_mean("manages", [LONG, "manage"]) == "; did you mean 'manage'?"
    assert time.perf_counter() - started < 1
