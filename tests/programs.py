"""Small graphs and random Horn clauses, and what follows from them by trying every assignment."""

import re
from itertools import pairwise, product

import numpy as np
from hypothesis import strategies as st

from clausal.graph import Graph, Names
from clausal.logic import And, Atom, Clause, Constant, Implies, Variable, horn_parts

ENTITIES = ["anna", "bob", "cleo", "dora"]
RELATIONS = ["p", "q", "r"]
NAMES = [Variable(name) for name in "XYZU"]


def graph_of(facts, entities=ENTITIES, relations=RELATIONS):
    """Return a graph whose train facts are these, as tuples of ids."""
    rows = np.array(sorted(facts), dtype=np.int32).reshape(-1, 3)
    return Graph(Names(entities, "entity"), Names(relations, "relation"), rows)


def first_rounds(graph, clauses):
    """Return each fact of the closure with its round: in each, every clause under every assignment of entities."""
    rounds = {tuple(fact): 0 for fact in graph.train.tolist()}
    number = 0
    while True:
        number += 1
        found = {fact for clause in clauses for fact in _consequences(graph, clause, rounds)} - set(rounds)
        if not found:
            return rounds
        rounds |= dict.fromkeys(found, number)


def _consequences(graph, clause, known):
    body, head = horn_parts(clause)
    variables = sorted({term.name for atom in (*body, head) for term in atom.terms if isinstance(term, Variable)})
    for values in product(range(len(graph.entities)), repeat=len(variables)):
        meaning = dict(zip(variables, values, strict=True))

        def fact(atom, meaning=meaning):
            subject, object = (
                meaning[term.name] if isinstance(term, Variable) else graph.entities.id(term.name)
                for term in atom.terms
            )
            return subject, graph.relations.id(atom.relation), object

        if all(fact(atom) in known for atom in body):
            yield fact(head)


def rounds_of(closure):
    """Return each fact of a closure with its round, as ``first_rounds`` does."""
    rows = list(map(tuple, closure.facts.tolist()))
    assert len(set(rows)) == len(rows), "a fact occurs twice"
    return dict(zip(rows, closure.round_of.tolist(), strict=True))


def random_rule(draw):
    """Return a chain of one to three atoms, some turned round, some with a constant at the end."""
    length = draw.choice([1, 1, 2, 2, 3])
    terms = [f"X{n}" for n in range(length)] + [draw.choice(["Y", "Y", "Y", f"entity{draw.randrange(60)}"])]
    atoms = []
    for pair in pairwise(terms):
        subject, object = pair if draw.random() < 0.7 else pair[::-1]
        atoms.append(f"r{draw.randrange(6)}({subject}, {object})")
    return f"{', '.join(atoms)} => r{draw.randrange(6)}({terms[0]}, {terms[-1]})"


def closure_by_nemo(graph, clauses):
    """Return the facts of the closure by nemo, an engine that shares no code with this one, as tuples of ids."""
    import nmo_python as nemo

    def term(one):
        return f"?{one.name}" if isinstance(one, Variable) else f"e{graph.entities.id(one.name)}"

    def atom(one):
        return f"r{graph.relations.id(one.relation)}({', '.join(map(term, one.terms))})"

    rules = [(atom(head), [atom(one) for one in body]) for body, head in map(horn_parts, clauses)]
    lines = [f"r{r}(e{s}, e{o}) ." for s, r, o in graph.train.tolist()]
    lines += [f"{head} :- {', '.join(body)} ." if body else f"{head} ." for head, body in rules]
    known = {f"r{relation}" for relation in range(len(graph.relations))} & set(re.findall(r"\br\d+", " ".join(lines)))
    lines += [f"@export {relation} :- csv {{}} ." for relation in sorted(known)]
    engine = nemo.NemoEngine(nemo.load_string("\n".join(lines)))
    engine.reason()
    found = set()
    for relation in known:
        for pair in engine.result(relation):
            subject, object = (int(str(name).strip("<>").removeprefix("e")) for name in pair)
            found.add((subject, int(relation[1:]), object))
    return found


_constants = st.sampled_from(ENTITIES).map(Constant)
_terms = st.one_of(st.sampled_from(NAMES), st.sampled_from(NAMES), _constants)
_atoms = st.builds(Atom, st.sampled_from(RELATIONS), _terms, _terms)


@st.composite
def horn_clauses(draw):
    """Draw a Horn clause of up to four body atoms whose head's variables are in its body."""
    body = draw(st.lists(_atoms, max_size=4))
    bound = sorted({term for atom in body for term in atom.terms if isinstance(term, Variable)}, key=str)
    terms = st.one_of(st.sampled_from(bound), _constants) if bound else _constants
    head = draw(st.builds(Atom, st.sampled_from(RELATIONS), terms, terms))
    if not body:
        return Clause(head)
    return Clause(Implies(body[0] if len(body) == 1 else And(tuple(body)), head))


facts = st.sets(
    st.tuples(st.integers(0, len(ENTITIES) - 1), st.integers(0, len(RELATIONS) - 1), st.integers(0, len(ENTITIES) - 1)),
    max_size=12,
)
programs = st.lists(horn_clauses(), max_size=6)
