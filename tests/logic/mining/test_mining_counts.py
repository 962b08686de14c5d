"""Mining finds exactly the rules that a naive count finds, with exactly its measures."""

from hypothesis import given, settings
from hypothesis import strategies as st
from naive_mining import canonical_atoms, canonical_text, naive_rules

from clausal.graph import Graph, load_graph
from clausal.logic import horn_parts, read_clauses
from clausal.logic.mining import mine

EVERYTHING = {"min_support": 1, "min_head_coverage": 0, "min_confidence": 0, "min_pca_confidence": 0}

triples = st.lists(
    st.tuples(st.sampled_from("abcde"), st.sampled_from("pqr"), st.sampled_from("abcde")), min_size=1, max_size=22
)


def counted(rules):
    """Return the measures of mined rules, by rule; no rule comes twice."""
    names = ("support", "head_facts", "body_pairs", "pca_pairs", "functional")
    by_rule = {canonical_atoms(rule.body, rule.head): {name: getattr(rule, name) for name in names} for rule in rules}
    assert len(by_rule) == len(rules)
    return by_rule


def shares(measures):
    """Return support, head coverage, standard and PCA confidence."""
    support = measures["support"]
    return support, *(support / measures[whole] for whole in ("head_facts", "body_pairs", "pca_pairs"))


@settings(max_examples=60, deadline=None)
@given(triples)
def test_every_rule_is_found_with_its_measures(facts):
    assert counted(mine(Graph.from_triples(facts), **EVERYTHING)) == naive_rules(facts)


@settings(max_examples=40, deadline=None)
@given(triples, st.integers(1, 4), *[st.sampled_from([0, 0.1, 0.3, 0.5, 2 / 3, 1])] * 3)
def test_thresholds_keep_exactly_the_rules_that_reach_them(facts, support, coverage, confidence, pca):
    thresholds = (support, coverage, confidence, pca)
    reached = {
        rule: measures
        for rule, measures in naive_rules(facts).items()
        if all(value >= least for value, least in zip(shares(measures), thresholds, strict=True))
    }
    rules = mine(
        Graph.from_triples(facts),
        min_support=support,
        min_head_coverage=coverage,
        min_confidence=confidence,
        min_pca_confidence=pca,
    )
    assert counted(rules) == reached


@settings(max_examples=20, deadline=None)
@given(triples)
def test_one_body_atom_leaves_out_the_chains_alone(facts):
    assert counted(mine(Graph.from_triples(facts), max_body=1, **EVERYTHING)) == naive_rules(facts, chains=False)


def test_measures_of_a_known_example():
    """Four people live somewhere, three of them where they work; of the others' home nothing is known."""
    works = [("ann", "x"), ("bob", "x"), ("cid", "y"), ("dan", "y"), ("eve", "y")]
    lives = [("ann", "x"), ("bob", "x"), ("cid", "y"), ("dan", "z")]
    facts = [(a, "works_in", b) for a, b in works] + [(a, "lives_in", b) for a, b in lives]
    rules = {str(rule): rule for rule in mine(Graph.from_triples(facts), min_support=1)}
    rule = rules["works_in(X, Y) => lives_in(X, Y)"]
    assert (rule.support, rule.head_facts, rule.body_pairs, rule.pca_pairs) == (3, 4, 5, 4)
    assert (rule.head_coverage, rule.confidence, rule.pca_confidence) == (3 / 4, 3 / 5, 3 / 4)
    assert rule.functional == "subject"


def test_pca_looks_at_the_end_with_more_entities():
    """``made`` has one maker and many things: what it made is the functional end, so PCA asks who else made a thing."""
    made = [("maker", "made", f"thing {number}") for number in range(4)]
    sold = [("maker", "sold", "thing 0"), ("maker", "sold", "new thing"), ("other", "sold", "thing 1")]
    rules = {str(rule): rule for rule in mine(Graph.from_triples(made + sold), **EVERYTHING)}
    rule = rules["sold(X, Y) => made(X, Y)"]
    assert rule.functional == "object"
    assert (rule.support, rule.body_pairs, rule.pca_pairs) == (1, 3, 2)


def test_no_fact_predicts_itself():
    facts = [(f"person {n}", "lives_in", f"town {n % 3}") for n in range(30)]
    facts += [(f"town {n}", "part_of", f"town {n}") for n in range(3)]
    assert mine(Graph.from_triples(facts)) == []


def test_a_symmetric_relation_is_found_and_loops_say_nothing_of_it():
    facts = [(a, "knows", b) for a, b in ["ab", "ba", "cd", "dc", "ee"]]
    (rule,) = mine(Graph.from_triples(facts), max_body=1, min_support=4)
    assert str(rule) == "knows(X, Y) => knows(Y, X)"
    assert (rule.support, rule.body_pairs, rule.head_facts) == (4, 4, 5)
    assert mine(Graph.from_triples(facts), max_body=1, min_support=5) == []


def test_held_out_facts_are_not_looked_at():
    train = [(f"a{n}", "p", f"b{n}") for n in range(12)] + [(f"a{n}", "q", f"b{n}") for n in range(6)]
    held = [(f"a{n}", "q", f"b{n}") for n in range(6, 12)]
    shown, hidden = Graph.from_triples(train + held), Graph.from_triples(train, held[:3], held[3:])
    found = {str(rule): rule for rule in mine(shown)}
    assert found["p(X, Y) => q(X, Y)"].confidence == 1
    found = {str(rule): rule for rule in mine(hidden, min_support=1)}
    assert found["p(X, Y) => q(X, Y)"].confidence == 0.5


def test_published_rules_of_fb122_are_found_with_default_thresholds(clausal_data):
    published = read_clauses(clausal_data / "fb122" / "clauses.pl")
    found = {canonical_atoms(rule.body, rule.head) for rule in mine(load_graph("fb122"))}
    count = sum(canonical_atoms(*horn_parts(clause)) in found for clause in published)
    print(f"{count} of {len(published)} published rules")
    assert len(published) == 47
    assert count >= 40


def test_the_comparison_of_rules_ignores_names_and_order_and_nothing_else():
    rule = canonical_text("p(X, Y), q(Z, Y) => r(X, Z)")
    assert rule == canonical_text("q(A, B), p(C, B) => r(C, A)")
    assert rule != canonical_text("p(X, Y), q(Y, Z) => r(X, Z)")
    assert rule != canonical_text("p(X, Y), q(Z, Y) => r(Z, X)")
