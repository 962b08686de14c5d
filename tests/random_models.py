"""Small random link predictors and clauses on them, and clauses scored one by one in plain Python."""

from __future__ import annotations

import itertools

import torch

from clausal.adversary import group_clauses
from clausal.graph import Names
from clausal.logic import And, Atom, Falsum, Iff, Implies, Not, Or, Variable, parse_clause
from clausal.model import SCORERS, LinkPredictor, PairPredictor, Sphere, Table
from clausal.model.scorers import ModelF

ENTITIES = Names([f"e{i}" for i in range(6)], "entity")
RELATIONS = Names(["p", "q", "r", "s"], "relation")


def random_predictor(scorer="complex", domain=None, dim=4, seed=0, dtype=torch.float32):
    """A predictor with entities all over its domain and normal relation parameters, so that clauses are violated."""
    generator = torch.Generator().manual_seed(seed)
    sizes = {"num_entities": len(ENTITIES), "num_relations": len(RELATIONS), "domain": domain or Sphere()}
    if scorer == "model-f":
        pairs = torch.tensor(list(itertools.product(range(len(ENTITIES)), repeat=2)))[::2]
        predictor = PairPredictor(pairs, ModelF(dim), **sizes)
    else:
        predictor = LinkPredictor(Table(len(ENTITIES), dim), SCORERS[scorer](dim), **sizes)
    predictor.reset_parameters(generator)
    predictor.encoder.weight.data = predictor.domain.sample(predictor.encoder.weight.shape, generator)
    predictor.relations.data.normal_(generator=generator)
    return predictor.to(dtype)


def groups_of(*texts):
    return group_clauses([parse_clause(text) for text in texts], ENTITIES, RELATIONS)


def godel_violation(formula, score):
    """The paper's semantics in plain Python; ``score`` maps an atom to a number, and ⊥ is only a head."""

    def value(tree):
        match tree:
            case Atom():
                return score(tree)
            case And(parts):
                return min(value(part) for part in parts)
            case Or(parts):
                return max(value(part) for part in parts)
            case Not(part):
                return -value(part)
            case Implies(body, head):
                return max(-value(body), value(head))
            case Iff(left, right):
                return min(max(-value(left), value(right)), max(-value(right), value(left)))

    match formula:
        case Implies(body, Falsum()):
            return max(0.0, value(body))
        case Implies(body, head):
            return max(0.0, value(body) - value(head))
        case Iff(left, right):
            return abs(value(left) - value(right))
        case other:
            return max(0.0, -value(other))


def one_by_one(predictor, clause, entity_ids, semantics=godel_violation):
    """The violation of one clause when its variables, by first occurrence, stand for these entities."""
    names = dict.fromkeys(term for atom in clause.atoms for term in atom.terms if isinstance(term, Variable))
    binding = dict(zip(names, entity_ids, strict=True))

    def score(atom):
        ids = [binding[term] if isinstance(term, Variable) else ENTITIES.id(term.name) for term in atom.terms]
        subject, object = torch.tensor(ids)
        return predictor.score(subject, torch.tensor(RELATIONS.id(atom.relation)), object).item()

    return semantics(clause.formula, score)
