"""What clauses demand of scores, by definition: every ground clause in turn until nothing changes, in plain Python."""

from __future__ import annotations

import itertools

import numpy as np

from clausal.logic import And, Atom, Falsum, Iff, Implies, Not, Or, Variable

SHAPES = (
    "{}(X, Y) => {}(X, Y)",
    "{}(X, Y) => {}(Y, X)",
    "{}(X, Y) <=> {}(Y, X)",
    "{}(X, Y) | {}(Y, X) => {}(X, Y)",
    "{}(X, Y) => {}(Y, X) & {}(X, X)",
    "{}(X, Y), {}(X, Y) => {}(X, Y)",
    "{}(X, Y), {}(Y, Z) => {}(X, Z)",
    "{}(X, Y), {}(X, Z) => {}(Z, Y)",
    "{}(X, Y), {}(Y, Z), {}(X, Z) => {}(X, Z)",
    "{}(X, Y), {}(Y, Z), {}(Z, X) => {}(X, X)",
    "{}(X, Y), {}(Y, Z), {}(Z, W) => {}(X, W)",
    "{}(X, Y), {}(Z, W) => {}(X, W)",
    "{}(X, Y), {}(Y, Z), {}(X, W), {}(W, Z), {}(Y, W) => {}(X, Z)",
    "{}(X, e0) => {}(X, e1)",
    "{}(X, X) => {}(X, X)",
    "{}(X, Y) => {}(X, X)",
    "{}(X, X) => {}(X, e2)",
    "{}(e1, X), {}(X, Y) => {}(e2, Y)",
    "{}(X, Y), {}(Z, e1) => {}(X, Y)",
    "{}(e0, e1)",
    "r(X, Y), r(Y, Z) => r(X, Z)",
    "s(X, Y) => s(Y, X)",
    "s(X, Y), s(Y, Z) => s(X, Z)",
    "{}(X, Y), t(Y, Z) => t(X, Z)",
    "t(X, Y), {}(Z, Y) => t(X, Z)",
    "{}(X, Y), {}(X, Y) => false",
    "{}(X, Y), {}(Y, X) => false",
    "{}(X, X) => false",
    "{}(X, e1), {}(X, e0) => false",
    "{}(X, Y), {}(Y, Z) => false",
    "{}(X, Y), {}(X, Z), {}(Z, Y) => false",
)


def random_clauses(random, count):
    """So many clauses of random shapes over the relations p, q, r, s and t, as text."""
    shapes = random.choices(SHAPES, k=count)
    return [shape.format(*random.choices("pqrst", k=shape.count("{}"))) for shape in shapes]


def horn_parts(formula):
    """A formula as bodies and heads; None is the head of a constraint."""
    match formula:
        case Atom():
            return [((), formula)]
        case Iff(left, right):
            return horn_parts(Implies(left, right)) + horn_parts(Implies(right, left))
        case Not(part):
            return horn_parts(Implies(part, Falsum()))
        case Implies(body, head):
            heads = head.formulas if isinstance(head, And) else [head]
            heads = [None if isinstance(one, Falsum) else one for one in heads]
            pairs = [(tuple(dict.fromkeys(one)), head) for one in _alternatives(body) for head in heads]
            return [(body, head) for body, head in pairs if head not in body]


def _alternatives(body):
    match body:
        case Atom():
            return [[body]]
        case Or(parts):
            return [one for part in parts for one in _alternatives(part)]
        case And(parts):
            return [list(itertools.chain(*some)) for some in itertools.product(*map(_alternatives, parts))]


def variables_of(atoms):
    """The variables of some atoms, by first occurrence."""
    return list(dict.fromkeys(term for atom in atoms for term in atom.terms if isinstance(term, Variable)))


def place(atom, binding, entities, relations):
    """Where the fact of an atom is in a table of all facts."""
    ends = (binding[term] if isinstance(term, Variable) else entities.id(term.name) for term in atom.terms)
    return relations.id(atom.relation), *ends


def ground_clauses(clauses, entities, relations):
    """Every ground instance of the clauses as places of facts."""
    found = []
    for body, head in (part for clause in clauses for part in horn_parts(clause.formula)):
        atoms = (*body, *([head] if head else []))
        variables = variables_of(atoms)
        for ids in itertools.product(range(len(entities)), repeat=len(variables)):
            binding = dict(zip(variables, ids, strict=True))
            places = [place(atom, binding, entities, relations) for atom in atoms]
            found.append((tuple(places[: len(body)]), places[-1] if head else None))
    return list(dict.fromkeys(found))


def demanded(table, clauses, known, entities, relations):
    """The consistent scores of all facts [relations, entities, entities]: raised, and then without what is removed."""
    score, against = table.copy(), np.full_like(table, -np.inf)
    for subject, relation, object in known:
        score[relation, subject, object] = np.inf
    ground = ground_clauses(clauses, entities, relations)
    changed = True
    while changed:
        changed = False
        for body, head in ground:
            least = min((score[one] for one in body), default=np.inf)
            if head is not None and least > score[head]:
                score[head], changed = least, True
    changed = True
    while changed:
        changed = False
        for body, head in ground:
            for at, fact in enumerate(body):
                others = [score[one] for other, one in enumerate(body) if other != at]
                least = min([np.inf if head is None else against[head], *others])
                if least > against[fact]:
                    against[fact], changed = least, True
    return np.where((against >= score) & (score < np.inf), -np.inf, score)
