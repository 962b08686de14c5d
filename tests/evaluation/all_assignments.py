"""Clauses over all entities by definition: a table of scores, one axis for each variable, nothing pruned."""

from __future__ import annotations

import itertools

import numpy as np
import torch

from clausal.graph import Names
from clausal.logic import And, Atom, Falsum, Iff, Implies, Not, Or, Variable
from clausal.model import SCORERS, LinkPredictor, PairPredictor, Table
from clausal.model.scorers import ModelF

RELATIONS = Names(["p", "q", "r", "s", "t"], "relation")


def entity_names(count):
    return Names([f"e{i}" for i in range(count)], "entity")


def small_predictor(scorer, entities, seed, dim=4, levels=3):
    """A predictor of small whole numbers: scores without rounding, and most of them tied."""
    sizes = {"num_entities": entities, "num_relations": len(RELATIONS)}
    if scorer == "model-f":
        pairs = torch.tensor(list(itertools.product(range(entities), repeat=2)))
        generator = torch.Generator().manual_seed(seed)
        kept = torch.rand(len(pairs), generator=generator) < 0.6
        predictor = PairPredictor(pairs[kept], ModelF(dim), **sizes)
    else:
        predictor = LinkPredictor(Table(entities, dim), SCORERS[scorer](dim), **sizes)
    generator = torch.Generator().manual_seed(seed)
    for parameter in predictor.parameters():
        parameter.data = torch.randint(-levels, levels + 1, parameter.shape, generator=generator).float()
    return predictor


def score_table(predictor):
    """All scores [relations, subjects, objects], each fact scored by itself."""
    ids = torch.arange(predictor.num_entities)
    relations = torch.arange(predictor.num_relations)
    with torch.no_grad():
        return predictor.score(ids[:, None], relations[:, None, None], ids).double().numpy()


def variables_of(clause):
    terms = dict.fromkeys(term for atom in clause.atoms for term in atom.terms)
    return [term for term in terms if isinstance(term, Variable)]


def atom_array(clause, atom, table, entities):
    """The scores of one atom as an array with one axis for each variable of the clause."""
    order = variables_of(clause)
    axes = np.meshgrid(*[np.arange(table.shape[1])] * len(order), indexing="ij", sparse=True)
    ids = [axes[order.index(term)] if isinstance(term, Variable) else entities.id(term.name) for term in atom.terms]
    return table[RELATIONS.id(atom.relation), ids[0], ids[1]]


def violations(clause, table, entities):
    """The paper's semantics on whole arrays: violations [entities] * variables."""

    def value(tree):
        match tree:
            case Atom():
                return atom_array(clause, tree, table, entities)
            case And(parts):
                return -value(Or(tuple(Not(part) for part in parts)))
            case Or(parts):
                values = [value(part) for part in parts]
                return np.maximum.reduce(np.broadcast_arrays(*values))
            case Not(part):
                return -value(part)
            case Implies(body, head):
                return np.maximum(-value(body), value(head))
            case Iff(left, right):
                return np.minimum(value(Implies(left, right)), value(Implies(right, left)))

    match clause.formula:
        case Implies(body, Falsum()):
            found = value(body)
        case Implies(body, head):
            found = value(body) - value(head)
        case Iff(left, right):
            found = np.abs(value(left) - value(right))
        case other:
            found = -value(other)
    shape = [table.shape[1]] * len(variables_of(clause))
    return np.broadcast_to(np.maximum(found, 0), shape)
