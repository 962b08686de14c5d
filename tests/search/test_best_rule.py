"""The preset best: what a graph of some size gets on some machine, and that it can be trained."""

import pytest
from search_runs import company

from clausal import Settings, parse_clauses, train
from clausal.search import Choice, Range, best_settings, make_space
from clausal.search.best import Machine, operations, this_machine, values_for
from clausal.search.space import setting

TWO_CORES = Machine(gpu=False, cores=2, memory=24 * 2**30)
GPU = Machine(gpu=True, cores=1, memory=139 * 2**30)
FB122 = (9_738, 91_638)
WN18 = (40_943, 141_442)
LARGE = (5_000_000, 100_000_000)


def made(size, machine, clauses=False):
    return Settings.from_mapping(values_for(*size, clauses, machine))


def test_a_larger_machine_gets_a_larger_model():
    assert made(FB122, TWO_CORES).model.dim < made(FB122, GPU).model.dim == 4096
    assert made((1_000, 3_000), TWO_CORES).model.dim == 512


@pytest.mark.parametrize(("size", "machine"), [(FB122, TWO_CORES), (FB122, GPU), (WN18, GPU)])
def test_graphs_that_allow_it_are_trained_against_all_entities(size, machine):
    settings = made(size, machine)
    assert settings.facts.training == "1-vs-all"
    assert settings.model.reciprocal


@pytest.mark.parametrize(("size", "machine"), [(WN18, TWO_CORES), (LARGE, TWO_CORES), (LARGE, GPU)])
def test_graphs_that_do_not_are_trained_against_corruptions(size, machine):
    settings = made(size, machine)
    assert settings.facts.training == "corruption"
    assert 16 * size[0] * settings.model.dim <= machine.memory / 2


def test_operations_are_those_of_the_matrix_products():
    """Multiplications and additions of scores = Q Eᵀ, of the gradient of Q and of that of E, counted one by one."""
    entities, facts, dim = 3, 4, 5
    queries = 2 * facts
    scores = sum(2 for _ in range(queries) for _ in range(entities) for _ in range(dim))
    assert operations(entities, facts, dim) == 3 * scores


def test_batches_make_some_hundred_steps_of_a_pass_within_bounds():
    sizes = [made((100, facts), TWO_CORES).facts.batch_size for facts in (50, 25_600, 51_200, 10**7)]
    assert sizes == [64, 128, 256, 512]


@pytest.mark.parametrize(("facts", "smoothing"), [(799, 0.0), (800, 0.1)])
def test_labels_are_smoothed_where_entities_have_many_facts(facts, smoothing):
    assert made((100, facts), TWO_CORES).facts.label_smoothing == smoothing


def test_the_fewer_facts_an_entity_has_the_smaller_the_batches_and_the_fewer_the_passes():
    """Twice the entities make twice the steps of a pass, which then are enough in fewer passes."""
    trained = [made((entities, 96_000), GPU) for entities in (9_600, 19_200, 38_400, 76_800)]
    assert [one.facts.batch_size for one in trained] == [512, 256, 128, 64]
    assert [one.train.epochs for one in trained] == [60, 60, 45, 40]


def test_clauses_are_used_where_there_are_any():
    assert made(FB122, GPU, clauses=True).clauses.adversary == "closed-form"
    assert made(FB122, GPU).clauses.adversary == "none"


def test_the_preset_trains_on_this_machine():
    graph, clauses = company(), parse_clauses("manages(X, Y) => works_with(X, Y)")
    settings = best_settings(graph, clauses, "cpu")
    values = settings.model_dump()
    values["train"]["epochs"] = 2
    run = train(graph, clauses, Settings.from_mapping(values))
    assert 0 < run.metrics["valid"]["filtered"]["both"]["mrr"] <= 1


def test_this_machine_has_memory_and_cores():
    machine = this_machine("cpu")
    assert not machine.gpu
    assert machine.cores >= 1
    assert machine.memory > 2**28


@pytest.mark.parametrize("size", [FB122, WN18])
def test_the_space_lies_around_the_start(size):
    start = made(size, TWO_CORES, clauses=True)
    space = make_space(start, clauses=True, largest_dim=10**6)
    for parameter in space:
        value = setting(start, parameter.name)
        if isinstance(parameter, Range):
            assert parameter.low < value < parameter.high
        else:
            assert value in parameter.values
            assert len(parameter.values) > 1
    assert {"model.dim", "train.learning_rate", "clauses.weight"} <= {parameter.name for parameter in space}


def test_what_has_no_effect_or_is_fixed_is_not_searched():
    def names(start, **options):
        return {parameter.name for parameter in make_space(start, **options)}

    all_entities, corruption = made(FB122, TWO_CORES), made(WN18, TWO_CORES)
    assert "facts.regulariser_weight" in names(all_entities, clauses=False)
    assert "facts.regulariser_weight" not in names(corruption, clauses=False)
    assert "facts.margin" in names(corruption, clauses=False)
    assert "facts.margin" not in names(all_entities, clauses=False)
    assert not any(name.startswith("clauses.") for name in names(all_entities, clauses=False))
    assert "model.dim" not in names(all_entities, clauses=False, fixed=["model.dim"])


def test_dimensions_beyond_the_memory_are_not_searched():
    start = made(FB122, TWO_CORES)
    (dims,) = (p for p in make_space(start, clauses=False, largest_dim=start.model.dim) if p.name == "model.dim")
    assert dims == Choice("model.dim", (start.model.dim // 2, start.model.dim))
