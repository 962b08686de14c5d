"""Knowledge bases that train side by side train as each would alone."""

from __future__ import annotations

import pytest
import torch

from clausal.errors import InputError
from clausal.training import prepare
from clausal.training.corruption import Corruption
from clausal_paper.synthetic.bases import ENTITIES, UnionPredictor, in_union, knowledge_base, union_graph
from clausal_paper.synthetic.cells import Cell, cells_of, prepare_union, reproduce, run_cell

TYPES = ("implication", "composition")


def bases(clause_type="composition", seeds=(0, 1, 2)):
    return [knowledge_base(clause_type, seed) for seed in seeds]


def short(adversary="gradient", epochs=2, **clauses):
    settings = Cell("composition", "complex", "cube", adversary).settings(sets=5, steps=3, **clauses)
    train = settings.train.model_copy(update={"epochs": epochs, "passes": 2})
    return settings.model_copy(update={"train": train})


def union_predictor(count=3):
    predictor = UnionPredictor(short().model, count)
    predictor.reset_parameters(torch.Generator().manual_seed(0))
    return predictor


@pytest.mark.parametrize("clause_type", TYPES)
@pytest.mark.parametrize("adversary", ["gradient", "none"])
def test_a_union_of_one_is_the_plain_training(clause_type, adversary):
    (base,) = bases(clause_type, seeds=[0])
    settings = short(adversary)
    plain = prepare(base.graph, base.clauses, settings).run()
    union = prepare_union([base], settings).run()
    torch.testing.assert_close(union.encode_all(), plain.encode_all(), atol=1e-5, rtol=0)
    torch.testing.assert_close(union.relations, plain.relations, atol=1e-5, rtol=0)


def test_scores_in_a_union_are_those_of_the_base():
    together = bases()
    predictor = union_predictor()
    for i, (base, entities, relations) in enumerate(
        zip(together, predictor.encode_all().chunk(3), predictor.relations.chunk(3), strict=True)
    ):
        s, r, o = torch.from_numpy(base.labelled).long().unbind(1)
        expected = predictor.scorer.score(entities[s], relations[r], entities[o])
        found = predictor.score(*torch.from_numpy(in_union(base.labelled, i)).long().unbind(1))
        torch.testing.assert_close(found, expected)


def test_the_gradient_of_a_base_does_not_depend_on_the_others():
    """One step on the union changes base 1 as one step on base 1 alone, with the same corruptions."""
    together = bases()
    settings = short("none")
    training = prepare_union(together, settings)
    predictor = training.predictor
    generator = torch.Generator().manual_seed(1)
    facts = torch.from_numpy(union_graph(together).train).long()
    negatives = training.objective.corruption.draw(facts, generator)
    inside = facts[:, 0] // ENTITIES == 1
    of_base = type(negatives)(negatives.subjects[:, inside], negatives.objects[:, inside])
    gradients = []
    for some_facts, some_negatives in ((facts, negatives), (facts[inside], of_base)):
        loss = training.objective.loss(*predictor.score_corrupted(some_facts, some_negatives))
        both = torch.autograd.grad(loss, [predictor.encoder.weight, predictor.relations])
        gradients.append([gradient.chunk(3)[1] for gradient in both])
    torch.testing.assert_close(gradients[0], gradients[1])


def test_corruptions_stay_inside_their_base():
    together = bases()
    predictor = union_predictor()
    facts = torch.from_numpy(union_graph(together).train).long()
    negatives = Corruption(predictor, facts).draw(facts, torch.Generator().manual_seed(0))
    table = torch.zeros(90, 20)
    table[30:60] = torch.nan  # base 1; its facts and corruptions alone may see it
    predictor.encoder.weight.data.copy_(table)
    positive, negative = predictor.score_corrupted(facts, negatives)
    of_base = facts[:, 0] // ENTITIES == 1
    assert torch.equal(positive.isnan(), of_base)
    assert torch.equal(negative.isnan(), of_base.expand(2, -1))


def test_adversarial_sets_start_from_entities_of_the_clauses_own_base():
    predictor = union_predictor()
    predictor.encoder.weight.data.copy_((torch.arange(90) // ENTITIES).float().unsqueeze(1).expand(-1, 20))
    vectors = predictor.random_arguments((30, 7, 3))
    assert torch.equal(vectors[:, 0, 0, 0], torch.arange(3).float().repeat_interleave(10))
    assert (vectors == vectors[:, :1, :1, :1]).all()


def test_each_base_is_initialised_by_its_own_size():
    predictor = UnionPredictor(short().model, 10)
    predictor.reset_parameters()
    assert predictor.encode_all().max().item() == pytest.approx((6 / (30 + 20)) ** 0.5, rel=0.01)
    assert predictor.relations.abs().max().item() == pytest.approx((6 / (15 + 20)) ** 0.5, rel=0.01)


def test_regions_that_would_mix_the_bases_are_refused():
    with pytest.raises(InputError, match="all knowledge bases"):
        prepare_union(bases(), short("closed-form", region="hull"))


def test_a_cell_reports_one_area_for_each_base_and_clauses_raise_them():
    cell = Cell("implication", "complex", "cube", "closed-form")
    results = []
    for weight in (0.0, 1.0):
        settings = cell.settings(weight=weight)
        train = settings.train.model_copy(update={"epochs": 15, "passes": 5})
        results.append(run_cell(cell, settings.model_copy(update={"train": train}), seeds=(0, 1, 2)))
    without, with_clauses = results
    assert len(with_clauses.areas) == 3
    assert with_clauses.mean > without.mean + 8


def test_the_papers_text_has_the_cells_that_climb_with_one_step(tmp_path):
    cells = [cell for cell, _ in cells_of(protocol="text", own=True)]
    assert len(cells) == 60
    assert {cell.adversary for cell in cells} == {"gradient", "plain", "alternating"}
    table = reproduce(tmp_path / "text.json", protocol="text", quick=True)
    assert table["settings"]["clauses"]["steps"] == 1
    (cell,) = table["cells"]
    assert (cell["adversary"], cell["paper"]) == ("gradient", 85.8)
