"""The options of RDF reach every command that reads a graph, and the notes about it are printed."""

import pytest

from command_line import clausal

TURTLE = """\
@prefix e: <http://e.org/> .
e:a e:r e:b, e:c ; e:name "A" ; e:part [ e:r e:c ] .
e:b e:r e:c .
<x> e:r e:a .
"""
CLAUSE = '"http://e.org/r"(X, Y) => "http://e.org/r"(Y, X)\n'
FACT = '"http://e.org/r"("http://e.org/a", "http://e.org/b")'


@pytest.fixture
def files(tmp_path):
    graph, clauses = tmp_path / "f.ttl", tmp_path / "clauses.txt"
    graph.write_text(TURTLE)
    clauses.write_text(CLAUSE)
    return str(graph), str(clauses)


def commands(graph, clauses):
    return {
        "closure": ["closure", graph, "--clauses", clauses],
        "prove": ["prove", graph, FACT, "--clauses", clauses],
        "mine": ["mine", graph, "--valid", "0", "--test", "0"],
        "clauses": ["clauses", clauses, "--graph", graph, "--valid", "0", "--test", "0"],
    }


@pytest.mark.parametrize("command", ["closure", "prove", "mine", "clauses"])
def test_what_is_left_out_is_said_and_can_be_kept(files, command):
    arguments = commands(*files)[command]
    told = clausal(*arguments).stderr
    assert "f: 4 entities, 1 relation" in told
    assert "note: 1 statement with a literal kept aside; --literals keep makes facts of them" in told
    assert "note: 2 statements with a blank node left out; --blank-nodes keep makes facts of them" in told
    assert "note: 1 relative IRI, such as x, is a name as it stands; --base IRI makes" in told
    kept = clausal(*arguments, "--literals", "keep", "--blank-nodes", "skolemise", "--base", "http://z.org/").stderr
    assert "f: 6 entities, 3 relations" in kept
    assert "note: 1 statement" not in kept
    assert "relative" not in kept


def test_options_of_one_command_do_not_reach_the_next(files):
    arguments = commands(*files)["closure"]
    assert "6 entities" in clausal(*arguments, "--literals", "keep", "--blank-nodes", "keep").stderr
    assert "4 entities" in clausal(*arguments).stderr


def test_a_choice_that_is_none_is_refused(files):
    refused = clausal(*commands(*files)["closure"], "--blank-nodes", "drop")
    assert refused.code == 2
    assert "skolemise" in refused.stderr


def test_a_base_that_is_no_iri_is_refused(files):
    refused = clausal(*commands(*files)["closure"], "--base", "z")
    assert refused.code != 0
    assert "base 'z' is not an IRI; expected one such as http://example.org/" in refused.stderr
