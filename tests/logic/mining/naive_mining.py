"""Rules and their measures counted one pair at a time over Python sets: what mining is compared with.

All entities of a rule are different: object identity.
"""

from itertools import permutations, product

from clausal.logic import parse_clause


def naive_rules(triples, chains=True):
    """Return the measures of every rule with support, by the rule in a form without the names of its variables."""
    facts = set(triples)
    relations = sorted({relation for _, relation, _ in facts})
    entities = sorted({name for subject, _, object in facts for name in (subject, object)})
    bodies = [[(b, "XY")] for b in relations] + [[(b, "YX")] for b in relations]
    if chains:
        for b, c in product(relations, repeat=2):
            bodies += [[(b, one), (c, two)] for one, two in product(("XM", "MX"), ("MY", "YM"))]
    found = {}
    for body, head in product(bodies, relations):
        if body != [(head, "XY")]:
            measures = _measures(facts, entities, body, head)
            if measures["support"]:
                found[canonical(body, (head, "XY"))] = measures
    return found


def _measures(facts, entities, body, head):
    predicted = set()
    middles = entities if len(body) == 2 else [None]
    for x, y, middle in product(entities, entities, middles):
        names = {"X": x, "Y": y, "M": middle}
        used = [(names[terms[0]], relation, names[terms[1]]) for relation, terms in body]
        if len({x, y, middle}) == 3 and all(fact in facts for fact in used):
            predicted.add((x, y))
    true = {(x, y) for x, relation, y in facts if relation == head}
    functional = "subject" if len({x for x, _ in true}) >= len({y for _, y in true}) else "object"
    subjects, objects = {x for x, y in true if x != y}, {y for x, y in true if x != y}
    known = [x in subjects if functional == "subject" else y in objects for x, y in predicted]
    support = len(predicted & true)
    return {
        "support": support,
        "head_facts": len(true),
        "body_pairs": len(predicted),
        "pca_pairs": sum(known),
        "functional": functional,
    }


def canonical(body, head):
    """Return a rule so that it is equal to every rule that differs in the names of variables and the order of atoms."""
    letters = sorted({letter for _, terms in [*body, head] for letter in terms})
    forms = []
    for renamed in permutations("ABCD", len(letters)):
        table = str.maketrans(dict(zip(letters, renamed, strict=True)))
        forms.append(
            (sorted((name, terms.translate(table)) for name, terms in body), head[0], head[1].translate(table))
        )
    body, *rest = min(forms)
    return (tuple(body), *rest)


def canonical_atoms(body, head):
    """Return the same of atoms."""
    return canonical(
        [(atom.relation, "".join(term.name for term in atom.terms)) for atom in body],
        (head.relation, "".join(term.name for term in head.terms)),
    )


def canonical_text(text):
    """Return the same of a clause's text."""
    formula = parse_clause(text).formula
    *body, head = parse_clause(text).atoms
    assert formula.head == head
    return canonical_atoms(body, head)
