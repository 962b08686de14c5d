"""Typed settings, one documented default for each; unknown keys and impossible values are refused.

The descriptions below are the reference: ``docs/reference/settings.md`` is generated from them.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from clausal.choices import SCORERS, AscentName, RegionName, ScorerName, SemanticsName, Ties
from clausal.errors import InputError, did_you_mean
from clausal.files import check_regular
from clausal.presets import read_preset

Positive = Annotated[int, Field(gt=0, lt=2**31)]  # sizes and counts; larger ones overflow inside torch
NonNegative = Annotated[int, Field(ge=0, lt=2**63)]  # what TOML can hold
LARGEST_REAL = 1e37  # float32 ends at 3.4e38; this leaves room for the factors inside torch's optimisers
PositiveReal = Annotated[float, Field(gt=0, le=LARGEST_REAL, allow_inf_nan=False)]
NonNegativeReal = Annotated[float, Field(ge=0, le=LARGEST_REAL, allow_inf_nan=False)]
Real = Annotated[float, Field(ge=-LARGEST_REAL, le=LARGEST_REAL, allow_inf_nan=False)]

_GONE = {("train", "step"): {"compiled": "auto"}}
"""Values that version 0.1 wrote into its run directories, and what is taken for them."""


_NUMBER_OR_WORD = (("clauses", "weight"), ("facts", "candidates"), ("descriptions", "buckets"))

AUTO: Literal["auto"] = "auto"
"""A setting that is chosen by the data, or by the race of ``--preset best``."""


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ModelSettings(_Section):
    """The link predictor: encoder, scorer and domain."""

    scorer: ScorerName = Field("complex", description="the scorer φ")
    dim: Positive = Field(
        100,
        description="real parameters per entity; ComplEx and RotatE with dim 200 have 100 complex components, "
        "SimplE and CP two halves of 100",
    )
    domain: Literal["sphere", "cube", "ball", "box", "cone", "none"] = Field(
        "cube",
        description="where entity vectors live: unit sphere, unit cube [0, 1]ᵏ, unit ball, a box, the cone of "
        "vectors without negative numbers, or anywhere",
    )
    box: tuple[Real, Real] = Field((-1.0, 1.0), description="lower and upper bound of the domain `box`")
    free: float = Field(
        0.0,
        ge=0,
        lt=1,
        description="share of the components of the domain `cone` that can be negative; in these, hard clauses make "
        "relations equal",
    )
    encoder: Literal["table", "frozen"] = Field(
        "table",
        description="a trainable vector for each entity, or pre-trained vectors that stay as they are",
    )
    pretrained: str | None = Field(
        None,
        description="file of entity vectors: `.npy` or `.safetensors` (rows in the order of `pretrained_names`, or of "
        "the sorted entity names), `.parquet` (columns name and vector), or word2vec text; the start for `table`, the "
        "vectors for `frozen`",
    )
    pretrained_names: str | None = Field(
        None, description="text file with the entity name of each row of `pretrained`, one per line"
    )
    reciprocal: bool = Field(
        False,
        description="a second vector for each relation, read from object to subject: (?, r, o) is answered by it",
    )
    initial_scale: PositiveReal = Field(
        1.0,
        description="what the vectors of Xavier's initialisation are multiplied by; training against all entities "
        "starts better from small ones, such as 0.1",
    )
    norm: Literal["l1", "l2", "l2-squared"] = Field("l1", description="the distance of TransE")
    hidden: tuple[Positive, ...] = Field((), description="widths of ER-MLP's hidden layers; empty means [2 dim, dim]")

    @model_validator(mode="after")
    def _check(self) -> ModelSettings:
        if self.box[0] >= self.box[1]:
            raise ValueError(f"box: the lower bound {self.box[0]} must be below the upper bound {self.box[1]}")
        if self.free and self.domain != "cone":
            raise ValueError(f'free: set domain to "cone" to use it, not to "{self.domain}"')
        if SCORERS[self.scorer].halved and self.dim % 2:
            raise ValueError(f"dim: {self.scorer} needs an even number, as each entity has two halves; got {self.dim}")
        if self.encoder == "frozen" and self.pretrained is None:
            raise ValueError('pretrained: encoder = "frozen" needs a file of vectors')
        if SCORERS[self.scorer].pairs and (self.encoder != "table" or self.pretrained):
            raise ValueError(f"encoder: {self.scorer} has a vector for each entity pair and takes no entity vectors")
        if SCORERS[self.scorer].pairs and self.reciprocal:
            raise ValueError(
                f"reciprocal: {self.scorer} has a vector for each entity pair, which has no other direction"
            )
        return self


class DescriptionSettings(_Section):
    """What describes entities: their vectors are then their own vectors and a map of features."""

    text: str | None = Field(
        None,
        description="file of names and texts (tab-separated, `.csv` or `.parquet`), or `literals`: labels, comments "
        "and definitions of an RDF graph",
    )
    vectors: str | None = Field(
        None,
        description="file of given vectors, of any width: word2vec text, `.parquet` with the columns name and vector, "
        "or `.npy` and `.safetensors` with `names`",
    )
    names: str | None = Field(
        None,
        description="text file with the entity name of each row of `vectors`, one per line; without it rows are in the "
        "order of the sorted entity names",
    )
    encoder: Annotated[str, Field(min_length=1)] = Field(
        "ngrams",
        description="what makes features of texts: `ngrams` hashes words, pairs of words and four letters in a row; "
        "anything else is the name or folder of a model of sentence-transformers (extra `text`)",
    )
    buckets: Literal["auto"] | Positive = Field(
        "auto",
        description="how many features n-grams are hashed to; `auto` is about twice to four times as many as there are "
        "distinct n-grams, up to 131,072",
    )
    own_dropout: Annotated[float, Field(ge=0, le=1)] = Field(
        0.5,
        description="how often a step of training leaves out an entity's own vector, so that its features alone must "
        "do; 1 leaves entities without vectors of their own",
    )
    feature_dropout: Annotated[float, Field(ge=0, lt=1)] = Field(
        0.2,
        description="share of the n-grams, and of the `hidden` units, that a step of training leaves out; vectors and "
        "sentence embeddings stay whole",
    )
    hidden: Annotated[int, Field(ge=0)] = Field(
        0,
        description="units of a hidden layer beside the linear map of vectors and of sentence embeddings; 0 for none, "
        "1,024 where thousands of entities are described",
    )

    @property
    def given(self) -> bool:
        """Whether there are any."""
        return self.text is not None or self.vectors is not None

    @model_validator(mode="after")
    def _check(self) -> DescriptionSettings:
        if self.names is not None and self.vectors is None:
            raise ValueError("names: are those of the rows of descriptions.vectors, which is not given")
        return self


class FactSettings(_Section):
    """The fact loss and the corruption of facts."""

    loss: Literal["hinge", "pairwise", "logistic", "softmax"] = Field(
        "hinge", description="pointwise hinge (the paper's), pairwise margin, logistic, or softmax over all entities"
    )
    training: Literal["corruption", "1-vs-all", "k-vs-all"] = Field(
        "corruption",
        description="what facts are trained against: corruptions, or all entities, as the two queries of each fact "
        "(`1-vs-all`) or as each distinct query with all its answers in train (`k-vs-all`)",
    )
    candidates: Literal["auto", "all"] | Positive = Field(
        "auto",
        description="entities that each query is scored against, in training against all of them: `all`, or those of "
        "the batch and so many drawn at random for each step; `auto` is all, and 1024 where entities are described",
    )
    label_smoothing: Annotated[float, Field(ge=0, lt=1)] = Field(
        0.0, description="share of the truth that is spread over all entities, in training against all of them"
    )
    relation_weight: NonNegativeReal = Field(
        0.0,
        description="weight of predicting a fact's relation from its entities, beside each of its entities from the "
        "rest (Chen et al. 2021); with `1-vs-all`",
    )
    regulariser: Literal["none", "f2", "n3", "dura"] = Field(
        "none",
        description="on the vectors of the facts in a batch: squares, cubes (Lacroix et al. 2018) or DURA (Zhang et "
        "al. 2020)",
    )
    regulariser_weight: NonNegativeReal = Field(
        0.05,
        description="weight of `regulariser` for each query; the loss is summed over a batch and so is this, so that "
        "it is the λ of Lacroix et al.",
    )
    margin: NonNegativeReal = Field(1.0, description="the margin γ of the hinge and pairwise losses")
    negatives: Positive = Field(1, description="corrupted subjects, and corrupted objects, for each fact")
    corruption: Literal["uniform", "bernoulli"] = Field(
        "uniform",
        description="`bernoulli` weighs corrupted subjects and objects by how many objects and subjects the "
        "relation has (Wang et al. 2014)",
    )
    filtered: bool = Field(False, description="redraw corruptions that are train facts")
    batches: Positive = Field(
        10,
        description="batches in a pass over the facts; more of them where the vectors of one batch would exceed 512 MB",
    )
    batch_size: Positive | None = Field(None, description="facts in a batch; overrides `batches`")
    l2_entities: NonNegativeReal = Field(0.0, description="weight of the squared norm of the entity parameters")
    l2_relations: NonNegativeReal = Field(0.0, description="weight of the squared norm of the relation parameters")

    @model_validator(mode="after")
    def _check(self) -> FactSettings:
        against_all = self.training != "corruption"
        if self.loss == "softmax" and not against_all:
            raise ValueError('loss: softmax is over all entities; set facts.training to "1-vs-all" or "k-vs-all"')
        if self.loss in ("hinge", "pairwise") and against_all:
            raise ValueError(
                f'loss: {self.loss} is for corruptions; with facts.training = "{self.training}" use softmax or logistic'
            )
        if self.label_smoothing and not against_all:
            raise ValueError('label_smoothing: set facts.training to "1-vs-all" or "k-vs-all" to use it')
        if self.candidates != AUTO and not against_all:
            raise ValueError('candidates: set facts.training to "1-vs-all" or "k-vs-all" to use it')
        if self.relation_weight and self.training != "1-vs-all":
            raise ValueError('relation_weight: set facts.training to "1-vs-all" to use it')
        return self


class ClauseSettings(_Section):
    """The adversary and the inconsistency loss."""

    adversary: Literal["gradient", "closed-form", "entities", "grounded", "none"] = Field(
        "gradient",
        description="gradient ascent (ASR), closed form (cASR), vectors of random real entities, clauses grounded on "
        "real entities that learn from them too, or no clauses at all",
    )
    hard: Literal["none", "marked", "all"] = Field(
        "marked",
        description="which clauses the model is kept from breaking, for any entity: none, those marked `<hard>`, or "
        "all; what cannot be hard for this scorer, domain and shape is said and trained softly",
    )
    fallback: Literal["gradient", "error", "skip"] = Field(
        "gradient", description="what `closed-form` does with clauses that have no closed form"
    )
    weight: NonNegativeReal | Literal["auto"] = Field(
        1.0,
        description="the weight α of the inconsistency loss; with `--preset best`, `auto` lets the race on valid "
        "choose it, 0 included",
    )
    sets: Positive = Field(10, description="adversarial sets B for each clause")
    per_step: Literal["auto", "all"] | Positive = Field(
        "auto",
        description="clauses whose loss a step adds: `all`, or about so many, drawn at random and scaled so that the "
        "mean stays the same; `auto` is all, up to where they would take longer than the facts of a batch",
    )
    steps: NonNegative = Field(10, description="ascent steps τ_a of the adversary")
    optimizer: AscentName = Field(
        "adagrad",
        description="how the adversary climbs: `adagrad`, as the authors' code; `sgd`, plain steps S + η g as in "
        "Algorithm 1; `alternating`, one variable after the other to where the clause is violated most, others fixed",
    )
    learning_rate: PositiveReal | None = Field(
        None, description="learning rate η of the ascent; by default 0.1 for `adagrad` and 1 for `sgd`"
    )
    pooling: Literal["sum", "mean", "max", "logsumexp"] = Field(
        "sum", description="how the violations on the B sets of a clause become one"
    )
    semantics: SemanticsName = Field(
        "godel",
        description="how connectives act: on scores (Gödel, the paper's; `sum`: the body's scores add up; "
        "`threshold`: a body above one score asks for a head above another) or on sigmoid(score)",
    )
    thresholds: tuple[Real, Real] = Field(
        (0.0, 0.0), description="the scores from which body and head hold, for `threshold` semantics"
    )
    region: RegionName = Field(
        "auto",
        description="where the adversary looks for violations: the model's domain, the box or the discs around all its "
        "entities, or the box of the entities in a variable's places; `auto` is the domain if it is bounded, the "
        "box on the cone, else discs for scorers of complex numbers and the box for others",
    )
    first: Literal["adversary", "discriminator"] = Field(
        "adversary",
        description="who moves first; `discriminator` trains the first epoch on unsearched sets, as the authors' code",
    )
    after: NonNegative = Field(
        0, description="epochs without the loss of the clauses, which comes then; hard clauses are kept from the start"
    )

    @property
    def alpha(self) -> float:
        """The weight as a number; ``auto`` is none until a race has chosen it."""
        if self.weight == AUTO:
            raise InputError("clauses.weight: auto is chosen by the race of --preset best; give a number")
        return float(self.weight)


class TrainSettings(_Section):
    """The loop of Algorithm 1."""

    epochs: Positive = Field(100, description="outer epochs τ; the adversary moves once in each")
    passes: Positive = Field(10, description="passes τ_d over the facts in an outer epoch")
    optimizer: Literal["adagrad", "sgd", "adam"] = Field("adagrad", description="the discriminator's optimiser")
    learning_rate: PositiveReal = Field(0.1, description="the discriminator's learning rate η")
    initial_accumulator: NonNegativeReal = Field(0.1, description="AdaGrad's initial accumulator")
    averaging: Annotated[float, Field(ge=0, lt=1)] = Field(
        0.0,
        description="what an average over passes keeps of itself at each: it is the model that is validated and kept, "
        "while training goes on from the last pass; 0 keeps none, 0.8 averages about five passes",
    )
    seed: NonNegative = Field(0, description="seed of all that a training draws at random")
    device: str = Field("auto", description="`cpu`, `cuda`, or `auto` for a GPU where there is one")
    step: Literal["auto", "eager", "fused"] = Field(
        "auto",
        description="the form of the training step: plain PyTorch, or fused kernels for DistMult, ComplEx, SimplE "
        "and CP, on a CPU also for the adversary; `auto` takes the fastest that the model and the machine allow",
    )
    precision: Literal["high", "highest"] = Field(
        "high",
        description="products over all entities in training on a GPU: `high` rounds their factors to TF32, `highest` "
        "does not; everything else is exact",
    )
    table_precision: Literal["float32", "bfloat16"] = Field(
        "float32",
        description="how the numbers of entity vectors are kept while training: `bfloat16` takes half the memory, and "
        "each step rounds up or down at random, so that small steps count on average; a finished run is in float32",
    )
    adagrad_sums: Literal["number", "row"] = Field(
        "number",
        description="AdaGrad's sums of squared gradients of entity vectors: one for each number, or one for each row, "
        "of the mean of the squares of what can move, which takes next to no memory; it needs a learning rate two to "
        "four times as large",
    )
    checkpoint_seconds: NonNegativeReal = Field(
        30.0, description="seconds between checkpoints; 0 means after every pass"
    )

    @model_validator(mode="after")
    def _check(self) -> TrainSettings:
        if self.device.partition(":")[0] not in ("auto", "cpu", "cuda", "mps", "xpu"):
            raise ValueError(f"device: '{self.device}' is not known; expected auto, cpu or cuda")
        if self.by_rows and self.optimizer != "adagrad":
            raise ValueError("optimizer: table_precision and adagrad_sums are for adagrad")
        return self

    @property
    def by_rows(self) -> bool:
        """Whether the table of entity vectors is worked on by rows, whatever the number of processes."""
        return self.table_precision != "float32" or self.adagrad_sums == "row"


class EvaluateSettings(_Section):
    """Validation while training, early stopping and ranking."""

    every: NonNegative = Field(10, description="epochs between validations; 0 means never")
    patience: NonNegative = Field(
        5, description="validations without improvement before training stops; 0 means never stop early"
    )
    metric: Literal["mrr", "hits@1", "hits@3", "hits@5", "hits@10", "mrr, inconsistency"] = Field(
        "mrr",
        description="filtered metric on valid that selects the model; `mrr, inconsistency` selects the most consistent "
        "one whose MRR is within `tolerance` of the best, and of equals the later",
    )
    keep: Literal["best", "last"] = Field(
        "best",
        description="the model that is kept: the best on valid, or that of the last epoch, as Algorithm 1 returns it; "
        "with `last` training does not stop early",
    )
    tolerance: NonNegativeReal = Field(0.002, description="how much MRR `mrr, inconsistency` may give up")
    ties: Ties = Field(
        "realistic", description="rank among equal scores while training and in metrics.json: mean, best or worst"
    )

    @property
    def ranked_by(self) -> str:
        """The metric of ranking in ``metric``."""
        return self.metric.partition(",")[0]


class Settings(_Section):
    """All settings of a training, by section."""

    model: ModelSettings = ModelSettings()
    descriptions: DescriptionSettings = DescriptionSettings()
    facts: FactSettings = FactSettings()
    clauses: ClauseSettings = ClauseSettings()
    train: TrainSettings = TrainSettings()
    evaluate: EvaluateSettings = EvaluateSettings()

    @model_validator(mode="after")
    def _check(self) -> Settings:
        scorer, kind, facts = self.model.scorer, SCORERS[self.model.scorer], self.facts
        if self.descriptions.given and (kind.pairs or self.model.encoder == "frozen" or self.model.pretrained):
            other = scorer if kind.pairs else "model.pretrained"
            raise ValueError(f"descriptions: entities are described by features, or by {other}, not by both")
        if kind.pairs and (facts.training != "corruption" or facts.regulariser != "none"):
            raise ValueError(f"facts: {scorer} scores entity pairs; it takes corruptions and no regulariser")
        if facts.regulariser != "none" and not kind.multilinear:
            raise ValueError(
                f"facts.regulariser: {facts.regulariser} is for scorers that multiply, not for {scorer}; "
                'set it to "none"'
            )
        if facts.relation_weight and not kind.trilinear:
            *others, last = (name for name, known in SCORERS.items() if known.trilinear)
            raise ValueError(
                f"facts.relation_weight: is for {', '.join(others)} and {last}, not for {scorer}; set it to 0"
            )
        return self

    @staticmethod
    def from_mapping(values: Mapping[str, Any], origin: str = "settings") -> Settings:
        """Check nested values; each problem names the setting, and unknown keys get a suggestion."""
        try:
            return Settings.model_validate(values)
        except ValidationError as error:
            raise InputError(f"{origin}: {_explain(error)}") from None

    @staticmethod
    def load(
        path: str | Path | None = None,
        assignments: Iterable[str] = (),
        *,
        preset: str | Mapping[str, Mapping[str, Any]] | None = None,
    ) -> Settings:
        """Take a preset, by name or by value, then what a TOML file says, then ``section.key=value`` assignments."""
        start = read_preset(preset) if isinstance(preset, str) else preset or {}
        values: dict[str, Any] = {section: dict(given) for section, given in start.items()}
        for section, given in (read_settings_file(Path(path)) if path else {}).items():
            both = isinstance(given, dict) and section in values
            values[section] = values[section] | given if both else given
        changes = list(assignments)
        for assignment in changes:
            _assign(values, assignment)
        name = preset if isinstance(preset, str) else "best"
        origins = [f"preset {name}"] * bool(preset) + [str(path)] * bool(path) + ["--set"] * bool(changes)
        return Settings.from_mapping(values, " with ".join(origins) or "settings")

    def to_toml(self) -> str:
        """Write every setting, defaults included."""
        import tomli_w

        return tomli_w.dumps(self.model_dump(mode="json", exclude_none=True))


def load_stored_settings(path: Path) -> Settings:
    """Read the settings of a run directory, which an older version may have written."""
    values = read_settings_file(path)
    for (section, name), replaced in _GONE.items():
        given = values.get(section)
        if isinstance(given, dict) and isinstance(given.get(name), str):
            given[name] = replaced.get(given[name], given[name])
    return Settings.from_mapping(values, str(path))


def read_settings_file(path: Path) -> dict[str, Any]:
    """Return the values of a TOML file by section, unchecked."""
    check_regular(path)
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(f"{path}: no such settings file") from None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read as text: {error}") from None
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path}: not valid TOML: {error}") from None
    except RecursionError:
        raise InputError(f"{path}: not valid settings: nested too deeply") from None
    except ValueError:
        raise InputError(f"{path}: not valid settings: a whole number has too many digits") from None


def _assign(values: dict[str, Any], assignment: str) -> None:
    key, equals, text = assignment.partition("=")
    section, dot, name = key.strip().partition(".")
    if not (equals and dot and section and name):
        raise InputError(f"--set {assignment}: expected section.key=value, such as model.dim=200")
    target = values.setdefault(section, {})
    if not isinstance(target, dict):
        raise InputError(f"--set {assignment}: '{section}' is not a section")
    target[name] = read_value(text)


def read_value(text: str) -> Any:
    """Read a value as TOML, and as text where that fails: a bare word is a string."""
    try:
        return tomllib.loads(f"value = {text.strip()}")["value"]
    except (ValueError, RecursionError):  # not TOML, or a whole number of thousands of digits
        return text.strip()


def _explain(error: ValidationError) -> str:
    return "; ".join(_explain_one(problem) for problem in _problems(error))


def _problems(error: ValidationError) -> list[dict[str, Any]]:
    """Return the problems; of a value that could be a number or a word, what is wrong with the number."""
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for problem in error.errors(include_url=False):
        place = problem["loc"]
        name = place[:2] if len(place) == 3 and place[:2] in _NUMBER_OR_WORD else place
        found.setdefault(name, {**problem, "loc": name})
    return list(found.values())


def _explain_one(problem: Mapping[str, Any]) -> str:
    path = [str(part) for part in problem["loc"]]
    where = ".".join(path)
    if problem["type"] == "extra_forbidden":
        section = Settings.model_fields.get(path[0]) if len(path) > 1 else None
        known = section.annotation.model_fields if section and section.annotation else Settings.model_fields
        kind = "setting" if len(path) > 1 else "section"
        hint = did_you_mean(path[-1], known)
        return f"unknown {kind} '{where}'{hint or '; known: ' + ', '.join(known)}"
    message = str(problem["msg"]).removeprefix("Value error, ")
    if problem["type"] == "value_error":
        return f"{where}.{message}" if where else message
    if problem["type"] in ("less_than_equal", "greater_than_equal"):
        message = f"{message.rpartition(' ')[0]} {next(iter(problem['ctx'].values())):g}"  # not 37 zeros
    return f"{where}: {message[0].lower()}{message[1:]}; got {_shown(problem['input'])}"


def _shown(value: Any) -> str:
    try:
        return repr(value)
    except ValueError:  # Python writes out no integer of more than 4,300 digits
        return "a number of thousands of digits"
