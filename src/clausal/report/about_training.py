"""The section on the training: the settings in words, and the learning curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from clausal.config import Settings
from clausal.drawing import Html, Series, join, line_chart, paragraphs, table, tag
from clausal.report.material import Material
from clausal.run import Run

_LOSSES = {
    "hinge": "a hinge loss",
    "pairwise": "a pairwise margin loss",
    "logistic": "a logistic loss",
    "softmax": "a softmax over all entities",
}
_AGAINST = {
    "corruption": "random corruptions of each fact",
    "1-vs-all": "all other entities, query by query",
    "k-vs-all": "all other entities, each query with all its answers",
}
_ADVERSARIES = {
    "gradient": "an adversary that searches by gradient ascent for where a clause is violated most (ASR)",
    "closed-form": "the largest violation in closed form (cASR)",
    "entities": "random real entities",
    "grounded": "a random choice of real entities, which learn from it too,",
}


def training_section(material: Material) -> Html:
    """Write how the model was trained."""
    run = material.run
    return join(
        [
            paragraphs(*settings_in_words(run.settings, len(run.clauses)), _how_it_went(material), _race(material)),
            curves(material.log),
            tag(
                "details",
                tag("summary", "Settings that differ from the defaults"),
                table(changed_settings(run.settings)) or paragraphs("none"),
            ),
        ]
    )


def settings_in_words(settings: Settings, clauses: int) -> list[str]:
    """Describe the model, the loss and what becomes of the clauses, a sentence each."""
    model, facts, about, train = settings.model, settings.facts, settings.clauses, settings.train
    where = "vectors may lie anywhere" if model.domain == "none" else f"vectors lie in the domain '{model.domain}'"
    both = ", with a second vector of each relation for questions about subjects" if model.reciprocal else ""
    regular = (
        "" if facts.regulariser == "none" else f", regularised by {facts.regulariser} ({facts.regulariser_weight:g})"
    )
    steps = f"{train.optimizer} (learning rate {train.learning_rate:g})"
    sentences = [
        f"The model is the scorer {model.scorer} with {model.dim:,} numbers for each entity; {where}{both}.",
        f"Facts were learnt by {_LOSSES[facts.loss]} against {_AGAINST[facts.training]}{regular}.",
        f"The optimiser is {steps}, for at most {train.epochs:,} epochs of {train.passes:,} passes.",
    ]
    if clauses and about.adversary == "none":
        sentences.append(f"{clauses:,} clauses are known to the run, but training did not use them.")
    elif clauses:
        sentences.append(
            f"{clauses:,} clauses were part of the loss with weight {about.weight}: "
            f"{_ADVERSARIES[about.adversary]} shows how badly the model breaks them, and training repairs it."
        )
    chosen = settings.evaluate
    if chosen.every:
        kept = f"the best by {chosen.metric}" if chosen.keep == "best" else "that of the last epoch"
        sentences.append(f"Every {chosen.every:,} epochs the model was ranked on valid; {kept} was kept.")
    return sentences


def _how_it_went(material: Material) -> str:
    about = training_of(material.run)
    epochs, seconds, best = (about.get(name) for name in ("epochs", "seconds", "best_epoch"))
    if not (isinstance(epochs, int) and isinstance(seconds, int | float)):
        return ""
    early = ", stopped early as valid no longer improved" if about.get("stopped_early") is True else ""
    return (
        f"It took {seconds:,.0f} s for {epochs:,} epochs on {about.get('device')} ({about.get('machine')}){early}; "
        f"the model of epoch {best} was kept."
    )


def training_of(run: Run) -> Mapping[str, Any]:
    """Return what the run says of its training; nothing that a file says is trusted to be there, or to be right."""
    found = run.metrics.get("training")
    return found if isinstance(found, Mapping) else {}


def _race(material: Material) -> str:
    race = material.run.metrics.get("race")
    return str(race.get("explanation", "")) if isinstance(race, Mapping) else ""


def curves(log: Sequence[Mapping[str, Any]]) -> Html:
    """Draw loss, inconsistency with its certified bound, and MRR on valid over the epochs."""
    with_clauses = any(record.get("inconsistency") for record in log)
    inconsistency = [
        Series("found by the adversary", _points(log, "inconsistency") if with_clauses else []),
        Series("certified: no adversary finds more", _points(log, "certified", "inconsistency")),
    ]
    charts = [
        line_chart([Series("loss", _points(log, "fact_loss"))], title="Loss on train facts"),
        line_chart([Series("MRR", _points(log, "valid", "mrr"))], title="MRR on valid"),
        line_chart(inconsistency, title="Inconsistency with the clauses"),
    ]
    return tag("div", *charts, class_="charts")


def _points(log: Sequence[Mapping[str, Any]], *path: str) -> list[tuple[float, float]]:
    found = []
    for record in log:
        value: Any = record
        for key in path:
            value = value.get(key) if isinstance(value, Mapping) else None
        if isinstance(value, int | float) and not isinstance(value, bool):
            found.append((float(record["epoch"]), float(value)))
    return found


def changed_settings(settings: Settings) -> list[dict[str, Any]]:
    """Return the settings that are not the defaults, with what they mean."""
    usual = Settings()
    rows = []
    for section in Settings.model_fields:
        given, default = getattr(settings, section), getattr(usual, section)
        for name, field in type(given).model_fields.items():
            value = getattr(given, name)
            if value != getattr(default, name):
                shown = {"value": str(value), "default": str(getattr(default, name))}
                rows.append({"setting": f"{section}.{name}", **shown, "what it is": field.description})
    return rows
