"""What a user reads when a rule file cannot be accepted: file, line, column, and what was expected."""

from __future__ import annotations

import pytest

from clausal.errors import InputError
from clausal.logic import read_rules

GOOD = "5\t4\t0.8\th(X,Y) <= b(X,Y)\n"

MANY = "9" * 5000  # more digits than Python reads as a number


@pytest.mark.parametrize(
    ("name", "text", "format", "message"),
    [
        ("r", GOOD + "5\t4\th(X,Y) <= b(X,Y)\n", None, "r:2:1: expected four columns with tabs"),
        ("r", GOOD + "5\tmany\t0.8\th(X,Y) <= b(X,Y)\n", None, "r:2:3: a count is a whole number, not 'many'"),
        ("r", GOOD + f"5\t{MANY}\t0.8\th(X,Y) <= b(X,Y)\n", None, "r:2:3: a count is"),
        ("r", GOOD + f"5\t{10**19}\t0.8\th(X,Y) <= b(X,Y)\n", None, "r:2:3: a count is at most 1,000,000"),
        ("r", GOOD + "5\t4\tnan\th(X,Y) <= b(X,Y)\n", None, "r:2:5: a confidence must be a finite number"),
        ("r", GOOD + "5\t4\t0.8\th(X,Y) <= b(X)\n", None, "r:2:19: expected an atom such as h(X,Y), found 'b(X'"),
        ("r", GOOD + "5\t4\t0.8\th(X,Y) <= b(X,Y), c(X\n", None, "expected ')' at the end of the rule"),
        ("r", GOOD + "5\t4\t0.8\th(X,Y) b(X,Y)\n", None, "r:2:9: expected a rule with '<='"),
        ("r", "?a  p  ?b   => ?b  q  ?a\t0.5\n?a  p   => ?b  q  ?a\t1\n", None, "r:2:5: expected triples of subject"),
        ("r", "?a  p  ?b   => ?b  q  ?a\t0.5\n?a p ?b => ?b q ?a\tx\n", None, "r:2:20: a confidence is a number"),
        ("r", "?a  p  ?b   => ?b  q  ?a\t0.5\n?a p ?b => ?b q ?a\n", None, "r:2:19: expected a tab and the confidence"),
        ("r", "?a p ?b => ?b q ?a ?c s ?d\t0.5", "ruge", "r:1:11: expected one atom in the head"),
        ("r", "?a p ?b => ?b q ?a => ?a q ?b\t0.5", "ruge", "r:1:1: expected a rule with one '=>'"),
        ("r", "?a p ?b-c => ?b q ?a\t0.5", "ruge", "r:1:6: '?b-c' is not a variable"),
        ("r", "p,q\t0.5\np q\t0.5\n", None, "r:2:1: expected two relations with a comma"),
        ("axiom_inverse", "p\tq\np\n", None, "axiom_inverse:2:1: expected 2 relations with tabs"),
        ("axiom_odd", "p\tq\n", None, "axiom_odd: IterE's kind of axiom is in the file's name"),
        ("r", "0 1\n", None, "r: these rules are ids of relations; put the dictionary"),
        ("r", "[{\n}", None, "r:1:2: expected a rule: an object with 'head', 'body' and 'measures'"),
        ("r", '[\n {"head": }]', None, "r:2:11: not JSON: Expecting value"),
        ("r", '{"head": {"subject": 1}, "body": []}', None, "r:1:1: expected an atom"),
        ("r", f'[\n {{"head": {MANY}, "body": []}}]', None, "r:2:2: a number of the rule has too many digits"),
        ("r.ttl", "@prefix : <http://e/> .\n:a :b\n", None, "r.ttl:"),
        ("r.ttl", "<http://e/a> <http://e/b> <http://e/c> .\n", None, "no clauses in this file in the format 'owl'"),
        ("r", "p(X, Y) => q(X, Y)", "prolg", "unknown rule format 'prolg'; did you mean 'prolog'?"),
    ],
)  # fmt: skip
def test_each_mistake_is_named_at_its_place(name, text, format, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError) as caught:
        read_rules(name, format)
    assert message in str(caught.value)


def test_ids_of_thousands_of_digits_are_none(tmp_path):
    (tmp_path / "rules.txt").write_text(f"0 1\n1 {MANY}\n")
    (tmp_path / "relations.dict").write_text("0\tp\n1\tq\n")
    with pytest.raises(InputError, match=r"rules\.txt:2:3: expected ids of relations, found '99"):
        read_rules(tmp_path / "rules.txt")
    (tmp_path / "relations.dict").write_text(f"0\tp\n{MANY}\tq\n")
    with pytest.raises(InputError, match=r"relations\.dict:2: expected an id of its own"):
        read_rules(tmp_path / "rules.txt")


def test_an_id_without_a_name_is_named_with_the_last_that_has_one(tmp_path):
    (tmp_path / "rules.txt").write_text("0 1\n1 4\n")
    (tmp_path / "relations.dict").write_text("0\tp\n1\tq\n")
    with pytest.raises(InputError, match=r"rules.txt:2:3: unknown id 4: 2 relations and their inverses end at 3"):
        read_rules(tmp_path / "rules.txt")


@pytest.mark.parametrize("text", ["0\tp\n0\tq\n", "p\t0\nq\t1\n", "0\tp\n2\tq\n"])
def test_a_dictionary_that_does_not_number_relations_is_refused(text, tmp_path):
    (tmp_path / "rules.txt").write_text("0 1\n")
    (tmp_path / "relations.dict").write_text(text)
    with pytest.raises(InputError, match=r"relations.dict"):
        read_rules(tmp_path / "rules.txt")


def test_the_first_five_bad_lines_are_shown_and_the_rest_counted(tmp_path):
    (tmp_path / "rules").write_text(GOOD + "5\t4\t0.8\th(X,Y)\n" * 8)
    with pytest.raises(InputError) as caught:
        read_rules(tmp_path / "rules")
    assert str(caught.value).endswith("and 3 more lines that cannot be read\n1 line can be read")


def test_a_few_bad_lines_of_a_mined_file_are_left_out_and_shown(tmp_path):
    (tmp_path / "rules").write_text(
        GOOD * 18 + "5\t4\t0.8\th(X,Y)\n" + "9\t9\t0.9\th(me_myself_i,me_myself_i) <= b(X,Y)\n"
    )
    told = []
    assert len(read_rules(tmp_path / "rules", tell=told.append)) == 18
    (sentence,) = told
    assert "rules: 2 rules of 20 left out:" in sentence
    assert "rules:19:9: expected a rule with '<='" in sentence
    assert "rules:20:9: 'me_myself_i' stands for the atom's other argument" in sentence
