"""Proof sizes by trying everything, and a checker of proofs; neither shares code with the prover."""

from itertools import product

from clausal.logic import Variable, horn_parts


def instances(graph, clause):
    """Yield every instance of a Horn clause over the graph's entities: the facts of its body, and its head."""
    body, head = horn_parts(clause)
    variables = sorted({term.name for atom in (*body, head) for term in atom.terms if isinstance(term, Variable)})
    for values in product(graph.entities, repeat=len(variables)):
        meaning = dict(zip(variables, values, strict=True))
        yield [fact(atom, meaning) for atom in body], fact(head, meaning)


def fact(atom, meaning):
    subject, object = (meaning[term.name] if isinstance(term, Variable) else term.name for term in atom.terms)
    return subject, atom.relation, object


def given_facts(graph):
    """Return the train facts in names."""
    entities, relations = list(graph.entities), list(graph.relations)
    return {
        (entities[subject], relations[relation], entities[object]) for subject, relation, object in graph.train.tolist()
    }


def smallest_sizes(graph, clauses):
    """Return for each fact that follows the fewest applications of clauses in a tree that proves it.

    Bellman-Ford: sizes only shrink, and every instance of every clause is tried until none does.
    """
    steps = [step for clause in clauses for step in instances(graph, clause)]
    sizes = dict.fromkeys(given_facts(graph), 0)
    changed = True
    while changed:
        changed = False
        for body, head in steps:
            if all(premise in sizes for premise in body):
                size = 1 + sum(sizes[premise] for premise in body)
                if size < sizes.get(head, size + 1):
                    sizes[head], changed = size, True
    return sizes


def check_proof(proof, given):
    """Assert that every step is an instance of its clause and every leaf is given; return the size of the tree."""
    count, waiting = 0, [proof]
    while waiting:
        step = waiting.pop()
        if step.clause is None:
            assert step.fact in given
            assert step.premises == ()
            continue
        count += 1
        body, head = horn_parts(step.clause)
        meaning = {}
        for atom, found in zip((*body, head), (*(p.fact for p in step.premises), step.fact), strict=True):
            assert atom.relation == found.relation
            for term, name in zip(atom.terms, (found.subject, found.object), strict=True):
                assert (meaning.setdefault(term, name) if isinstance(term, Variable) else term.name) == name
        waiting.extend(step.premises)
    return count
