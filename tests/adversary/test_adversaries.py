"""Adversaries search the domain, find worse sets than they started from, and leave what is not theirs alone."""

from __future__ import annotations

import pytest
import torch

from clausal.adversary import SEMANTICS, ClosedForm, GradientAscent, RealEntities, Vectors, WorstCase, certify
from clausal.adversary.build import check_closed_forms, make_adversary, make_groups
from clausal.config import ClauseSettings
from clausal.errors import InputError
from clausal.graph import Graph, dataset_clauses, load_graph
from clausal.logic import parse_clauses, read_clauses
from clausal.model import SCORERS, Ball, Box, Cube, LinkPredictor, Sphere, Table, Unbounded
from random_models import groups_of, random_predictor

TEXTS = (
    "p(X,Y) => q(X,Y)",
    "r(X,Y) => s(X,Y)",
    "q(X,Y) => q(Y,X)",
    "p(X,Y), q(Y,Z) => r(X,Z)",
    "p(X,Y) => q(X,Y) | r(X,Y)",
    "s(X,'e1') => p('e1',X)",
)


def largest(adversary, predictor, groups):
    return adversary.inconsistency(predictor, groups, adversary.find(predictor, groups))


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize(("optimizer", "steps"), [("adagrad", 12), ("sgd", 3), ("alternating", 1)])
@pytest.mark.parametrize("scorer", SCORERS)
@pytest.mark.parametrize("domain", [Sphere(), Cube(), Ball(), Box(-0.5, 0.25)], ids=repr)
def test_ascents_stay_in_the_domain_and_find_worse_sets(scorer, domain, optimizer, steps):
    groups = groups_of(*TEXTS)
    adversary = GradientAscent(8, steps, optimizer=optimizer)
    before = after = 0.0
    for seed in range(2):
        predictor = random_predictor(scorer, domain, dim=6, seed=seed)
        start = RealEntities(adversary.sets).find(predictor, groups, seeded(seed))
        found = adversary.find(predictor, groups, seeded(seed))
        assert all(domain.contains(one.vectors).all() for one in found)
        assert not any(one.vectors.requires_grad for one in found)
        before += adversary.inconsistency(predictor, groups, start).sum().item()
        after += adversary.inconsistency(predictor, groups, found).sum().item()
    assert after > 1.02 * before > 0


def share_reached(scorer, domain, optimizer, steps):
    """The share of the largest violation that the best of 50 sets reaches, and that sets reach on average."""
    predictor, groups = random_predictor(scorer, domain, dim=10, seed=4), groups_of(*TEXTS[:2])
    (found,) = GradientAscent(50, steps, optimizer=optimizer).find(predictor, groups, seeded())
    violation = groups[0].violation(predictor, SEMANTICS["godel"](), found.vectors)
    share = violation / largest(ClosedForm(), predictor, groups)[:, None]
    assert share.max() <= 1 + 1e-5
    return share.amax(1).mean().item(), share.mean().item()


@pytest.mark.parametrize("optimizer", ["sgd", "alternating"])
@pytest.mark.parametrize("domain", [Sphere(), Cube()], ids=repr)
@pytest.mark.parametrize("scorer", ["distmult", "complex"])
def test_more_steps_come_nearer_to_the_largest_violation(scorer, domain, optimizer):
    few, more, many = (share_reached(scorer, domain, optimizer, steps) for steps in (0, 1, 20))
    assert few[1] < more[1] <= many[1]
    assert many[0] > 0.95


def test_adagrad_climbs_on_the_cube_and_goes_astray_on_the_sphere():
    """Where D^(−½) g and not g is parallel to h, AdaGrad stands still: more steps can lead away again."""
    few, more, many = (share_reached("distmult", Cube(), "adagrad", steps)[0] for steps in (0, 10, 100))
    assert few < more < many
    assert many > 0.95
    more, many = (share_reached("distmult", Sphere(), "adagrad", steps)[0] for steps in (10, 1000))
    assert many < more < 0.9


@pytest.mark.parametrize("domain", [Cube(), Box(-0.5, 2.0)], ids=repr)
def test_one_alternation_finds_the_largest_violation_of_distmult_on_a_box_from_anywhere(domain):
    predictor, groups = random_predictor("distmult", domain, dim=12, seed=1), groups_of("p(X,Y) => q(X,Y)")
    predictor.encoder.weight.data[:, ::2] = 0  # as half of the numbers of a trained model on the cube are
    adversary = GradientAscent(sets=6, steps=2, optimizer="alternating")
    (found,) = adversary.find(predictor, groups, seeded())
    violation = groups[0].violation(predictor, SEMANTICS["godel"](), found.vectors)
    expected = largest(ClosedForm(), predictor, groups).expand(6)[None]
    torch.testing.assert_close(violation, expected)


@pytest.mark.parametrize("semantics", SEMANTICS)
@pytest.mark.parametrize("scorer", ["complex", "rescal", "transe", "er-mlp"])
def test_no_alternating_step_falls(scorer, semantics):
    predictor, groups = random_predictor(scorer, Ball(), dim=6, seed=3), groups_of(*TEXTS, "p(X,X) => q(X,X)")
    before = None
    for steps in range(4):
        adversary = GradientAscent(7, steps, semantics=SEMANTICS[semantics](), optimizer="alternating")
        found = adversary.find(predictor, groups, seeded())
        degrees = [
            group.unclipped(predictor, adversary.semantics, one.vectors).flatten()
            for group, one in zip(groups, found, strict=True)
        ]
        now = torch.cat(degrees)
        assert before is None or (now >= before - 1e-5).all()
        before = now


def test_alternating_steps_need_a_bounded_region():
    predictor, groups = random_predictor("complex", Unbounded()), groups_of("p(X,Y) => q(X,Y)")
    with pytest.raises(InputError, match=r'clauses\.region = "hull" or "discs"'):
        GradientAscent(optimizer="alternating").find(predictor, groups, seeded())
    assert GradientAscent(optimizer="alternating", region="auto").find(predictor, groups, seeded())


@pytest.mark.parametrize("domain", [Sphere(), Ball(), Cube(), Box(-0.5, 2.0)], ids=repr)
def test_nothing_in_a_domain_lies_farther_in_a_direction(domain):
    directions = torch.randn(5, 7, generator=seeded())
    found = domain.farthest(directions)
    assert domain.contains(found).all()
    others = domain.sample((1000, 7), seeded(1))
    assert ((directions * found).sum(-1) >= (directions @ others.T).amax(1) - 1e-6).all()


def test_sets_without_a_violation_do_not_move():
    predictor = random_predictor("distmult", Cube(), dim=4, seed=0)
    predictor.relations.data[0], predictor.relations.data[1] = -1.0, 1.0  # on the cube p scores below q everywhere
    predictor.relations.data[2], predictor.relations.data[3] = 1.0, -1.0
    groups = groups_of("p(X,Y) => q(X,Y)", "r(X,Y) => s(X,Y)")
    adversary = GradientAscent(sets=6, steps=10)
    (start,), (found,) = (search.find(predictor, groups, seeded()) for search in (RealEntities(6), adversary))
    assert torch.equal(found.vectors[0], start.vectors[0])
    assert not torch.equal(found.vectors[1], start.vectors[1])


def test_no_step_means_the_start():
    predictor = random_predictor()
    groups = groups_of(*TEXTS)
    still = GradientAscent(sets=3, steps=0).find(predictor, groups, seeded(5))
    drawn = RealEntities(sets=3).find(predictor, groups, seeded(5))
    assert all(torch.equal(one.vectors, other.vectors) for one, other in zip(still, drawn, strict=True))


def test_real_entities_are_vectors_of_entities_and_all_of_them_are_drawn():
    predictor = random_predictor("complex", dim=4)
    (found,) = RealEntities(sets=100).find(predictor, groups_of("p(X,Y) => q(X,Y)"), seeded())
    equal = (found.vectors.reshape(-1, 1, 4) == predictor.encode_all()).all(-1)
    assert (equal.sum(1) == 1).all()
    assert equal.any(0).all()


def test_the_search_moves_neither_constants_nor_parameters():
    predictor = random_predictor("complex", seed=2)
    before = [parameter.detach().clone() for parameter in predictor.parameters()]
    groups = groups_of("s(X,'e1') => p('e1',X)", "p('e0','e1') => q('e0','e1')", "p(X,Y) => q(X,Y)")
    found = GradientAscent(sets=4, steps=10).find(predictor, groups, seeded())
    assert [tuple(one.vectors.shape) for one in found] == [(1, 4, 1, 4), (1, 4, 0, 4), (1, 4, 2, 4)]
    assert all(torch.equal(one, other) for one, other in zip(before, predictor.parameters(), strict=True))
    assert all(parameter.grad is None for parameter in predictor.parameters())


def test_clauses_of_constants_alone_need_no_search():
    predictor = random_predictor("complex")
    groups = groups_of("p('e0','e1') => q('e0','e1')")
    adversary = GradientAscent(sets=2)
    inconsistency = adversary.inconsistency(predictor, groups, adversary.find(predictor, groups, seeded()))
    score = [predictor.score(torch.tensor(0), torch.tensor(relation), torch.tensor(1)).item() for relation in (0, 1)]
    assert inconsistency.tolist() == pytest.approx([2 * max(0.0, score[0] - score[1])])


def test_one_ascent_step_is_the_formula_of_adagrad():
    predictor = random_predictor("distmult", Cube(), dim=3, seed=1, dtype=torch.float64)
    groups = groups_of("p(X,Y) => q(X,Y)")
    adversary = GradientAscent(sets=5, steps=1, learning_rate=0.3)
    (start,) = RealEntities(5).find(predictor, groups, seeded())
    (found,) = adversary.find(predictor, groups, seeded())
    difference = (predictor.relations[0] - predictor.relations[1]).detach()
    for vectors, moved in zip(start.vectors[0], found.vectors[0], strict=True):
        x, y = vectors
        violated = (difference * x * y).sum() > 0
        gradient = torch.stack([difference * y, difference * x]) * violated
        expected = (vectors + 0.3 * gradient / (0.1 + gradient**2).sqrt()).clamp(0, 1)
        torch.testing.assert_close(moved, expected, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("pooling", ["sum", "mean", "max"])
def test_one_plain_step_is_line_14_on_each_set_whatever_the_pooling(pooling):
    predictor = random_predictor("distmult", Sphere(), dim=3, seed=1, dtype=torch.float64)
    groups = groups_of("p(X,Y) => q(X,Y)")
    adversary = GradientAscent(5, 1, 0.7, pooling, optimizer="sgd")
    (start,) = RealEntities(5).find(predictor, groups, seeded())
    (found,) = adversary.find(predictor, groups, seeded())
    difference = (predictor.relations[0] - predictor.relations[1]).detach()
    for vectors, moved in zip(start.vectors[0], found.vectors[0], strict=True):
        x, y = vectors
        violated = (difference * x * y).sum() > 0
        expected = vectors + 0.7 * torch.stack([difference * y, difference * x]) * violated
        torch.testing.assert_close(moved, expected / expected.norm(dim=1, keepdim=True), rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("pooling", ["sum", "mean", "max", "logsumexp"])
def test_inconsistency_pools_the_sets_of_each_clause(pooling):
    predictor = random_predictor()
    groups = groups_of(*TEXTS)
    adversary = RealEntities(sets=7, pooling=pooling)
    found = adversary.find(predictor, groups, seeded())
    inconsistency = adversary.inconsistency(predictor, groups, found)
    expected = []
    for group, one in zip(groups, found, strict=True):
        for row in group.violation(predictor, SEMANTICS["godel"](), one.vectors):
            pooled = {"sum": row.sum(), "mean": row.sum() / 7, "max": row.max(), "logsumexp": row.exp().mean().log()}
            expected.append(pooled[pooling].item())
    assert inconsistency.tolist() == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("pooling", ["sum", "mean", "max", "logsumexp"])
def test_a_clause_that_cannot_be_violated_has_no_inconsistency(pooling):
    adversary = GradientAscent(sets=10, steps=2, pooling=pooling)
    assert largest(adversary, random_predictor(), groups_of("p(X,Y) => p(X,Y)")).tolist() == [0.0]


MIXED = ("p(X,Y) => q(X,Y)", "p(X,Y), q(Y,Z) => r(X,Z)", "s(X,Y) => p(Y,X)", "r(X,Y) => s(X,Z)")
"""With TransE on all vectors the second and the fourth have no bound; with ComplEx on the cube all have one."""


def test_closed_form_falls_back_for_just_the_clauses_it_cannot_treat():
    predictor = random_predictor("transe", Unbounded(), seed=6)
    groups = groups_of(*MIXED)
    fallback = GradientAscent(sets=4, steps=5)
    adversary = ClosedForm(fallback)
    found = adversary.find(predictor, groups, seeded())
    inconsistency = adversary.inconsistency(predictor, groups, found)
    alone = fallback.find(predictor, [groups[1], groups[3]], seeded())
    searched = fallback.inconsistency(predictor, [groups[1], groups[3]], alone)
    exact = largest(ClosedForm(), predictor, [groups[0], groups[2]])
    expected = torch.stack([exact[0], searched[0], exact[1], searched[1]])
    torch.testing.assert_close(inconsistency, expected)
    assert [type(one) for one in found] == [WorstCase, Vectors, WorstCase, Vectors]
    assert (exact > 0).all()


def test_closed_form_without_a_fallback_skips_what_it_cannot_treat():
    predictor = random_predictor("transe", Unbounded(), seed=6)
    inconsistency = largest(ClosedForm(), predictor, groups_of(*MIXED))
    assert inconsistency[[1, 3]].tolist() == [0.0, 0.0]
    assert (inconsistency[[0, 2]] > 0).all()


def test_closed_forms_need_nothing_searched():
    predictor = random_predictor("distmult", Sphere())
    adversary = ClosedForm(GradientAscent())
    groups = groups_of("p(X,Y) => q(X,Y)")
    (found,) = adversary.find(predictor, groups)
    assert not any(tensor.numel() for tensor in found.tensors().values())


@pytest.mark.parametrize("name", ["product", "lukasiewicz"])
def test_closed_forms_are_refused_under_other_semantics(name):
    with pytest.raises(InputError, match=r'"godel", "sum", "threshold", or clauses\.adversary = "gradient"'):
        ClosedForm(semantics=SEMANTICS[name]())


@pytest.mark.parametrize("region", ["domain", "hull", "discs", "roles"])
@pytest.mark.parametrize("semantics", ["godel", "sum", "threshold"])
def test_what_closed_form_keeps_gives_the_bound_it_was_solved_for(region, semantics):
    facts = torch.tensor([[0, 0, 1], [1, 1, 2], [3, 2, 4], [5, 3, 0]])
    predictor = random_predictor("complex", Cube(), dim=6, seed=6, dtype=torch.float64)
    groups = groups_of("p(X,Y) => q(X,Y)", "p(X,Y), q(Y,Z) => r(X,Z)", "p(X,'e0'), q(X,Y) => r('e0',Y)")
    adversary = ClosedForm(None, SEMANTICS[semantics](), region, facts)
    treated = [adversary.treats(predictor, group) for group in groups]
    certificates = certify(predictor, groups, semantics=SEMANTICS[semantics](), region=region, facts=facts)
    found = adversary.inconsistency(predictor, groups, adversary.find(predictor, groups))
    for value, certificate in zip(found, certificates, strict=True):
        # On discs eigenvalues are bounded, closely, and small multipliers are rounded up.
        tolerance = 1e-3 if region == "discs" else 1e-6
        assert value.item() == pytest.approx(certificate.bound.item(), rel=tolerance, abs=1e-6)
    assert all(treated)


def test_a_kept_region_stays_while_the_entities_move():
    predictor = random_predictor("distmult", Cube(), dim=6, seed=6)
    groups = groups_of("p(X,Y) => q(X,Y)")
    adversary = ClosedForm(region="hull")
    kept = adversary.find(predictor, groups)
    before = adversary.inconsistency(predictor, groups, kept)
    predictor.encoder.weight.data /= 2
    assert torch.equal(adversary.inconsistency(predictor, groups, kept), before)
    assert adversary.inconsistency(predictor, groups, adversary.find(predictor, groups)) < before


def test_on_the_cube_closed_forms_treat_bodies_of_two_atoms_and_pull_the_parameters():
    predictor = random_predictor("complex", Cube(), seed=6)
    groups = groups_of(*MIXED)
    adversary = ClosedForm()
    kept = adversary.find(predictor, groups)
    weights = [weights for one in kept for weights in one.weights if weights is not None]
    assert [tuple(one.shape) for one in weights] == [(1, 2)]  # λ of the one body with two atoms
    (gradient,) = torch.autograd.grad(adversary.inconsistency(predictor, groups, kept).sum(), predictor.relations)
    assert (gradient.abs().amax(1) > 0).all()


@pytest.mark.parametrize("domain", [Sphere(), Cube()], ids=repr)
@pytest.mark.parametrize("scorer", ["distmult", "complex"])
def test_all_clauses_of_fb122_are_treated_in_closed_form(scorer, domain, clausal_data):
    graph, clauses = load_graph("fb122"), read_clauses(dataset_clauses("fb122"))
    sizes = {"num_entities": len(graph.entities), "num_relations": len(graph.relations), "domain": domain}
    predictor = LinkPredictor(Table(len(graph.entities), 4), SCORERS[scorer](4), **sizes)
    settings = ClauseSettings(adversary="closed-form", fallback="error")
    groups = make_groups(clauses, graph.entities, graph.relations, predictor)
    adversary = make_adversary(settings, torch.from_numpy(graph.train))
    check_closed_forms(adversary, predictor, groups, settings, pytest.fail)
    inconsistency = adversary.inconsistency(predictor, groups, adversary.find(predictor, groups))
    attained = torch.cat([certificate.attained for certificate in certify(predictor, groups)])
    assert len(inconsistency) == 47
    assert (inconsistency >= attained - 1e-5).all()
    assert inconsistency.sum() <= 1.05 * attained.sum()


def from_settings(texts, **settings):
    graph = Graph.from_triples([("e0", relation, "e1") for relation in "pqrs"])
    told, predictor = [], random_predictor("transe", Unbounded())
    settings = ClauseSettings(region="domain", **settings)
    groups = make_groups(parse_clauses("\n".join(texts)), graph.entities, graph.relations, predictor)
    adversary = make_adversary(settings, torch.from_numpy(graph.train))
    if isinstance(adversary, ClosedForm):
        check_closed_forms(adversary, predictor, groups, settings, told.append)
    return adversary, told


def test_settings_choose_the_adversary():
    assert type(from_settings(MIXED, adversary="gradient")[0]) is GradientAscent
    assert type(from_settings(MIXED, adversary="entities")[0]) is RealEntities
    gradient = from_settings(MIXED, steps=3, sets=2, learning_rate=0.5, pooling="max", semantics="product")[0]
    assert (gradient.steps, gradient.sets, gradient.learning_rate, gradient.pooling) == (3, 2, 0.5, "max")
    assert gradient.semantics.name == "product"


def test_clauses_without_a_closed_form_are_told_or_refused():
    adversary, (told,) = from_settings(MIXED, adversary="closed-form")
    assert isinstance(adversary.fallback, GradientAscent)
    for text in ("no closed form for 2 clauses with TransE", "p(X, Y), q(Y, Z) => r(X, Z)", "gradient ascent"):
        assert text in told
    assert "p(X, Y) => q(X, Y)" not in told
    adversary, (told,) = from_settings(MIXED, adversary="closed-form", fallback="skip")
    assert adversary.fallback is None
    assert "they are left out" in told
    with pytest.raises(InputError, match=r"no closed form for 2 clauses(.|\n)*r\(X, Y\) => s\(X, Z\)"):
        from_settings(MIXED, adversary="closed-form", fallback="error")
    assert from_settings(MIXED[:1], adversary="closed-form", fallback="error")[1] == []


def test_a_long_list_of_clauses_without_a_closed_form_is_cut():
    texts = [f"p(X,Y), {relation}(Y,Z) => {head}(X,Z)" for relation in "pqrs" for head in "pq"]
    _, (told,) = from_settings(texts, adversary="closed-form")
    assert "no closed form for 8 clauses" in told
    assert "and 3 more" in told
