"""The settings of KALE; its rows of the paper's tables differ in ``rule_weight`` and ``on`` alone."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from clausal.errors import InputError

Observed = Literal["premises", "all-but-one"]


@dataclass(frozen=True)
class KaleSettings:
    """How KALE is trained.

    TransE: rule weight 0, on train. KALE-Pre: rule weight 0, on the closure of train. KALE-Joint: a positive rule
    weight, on train. ``observed`` says which ground rules there are: those whose premises are all facts of train, or
    those of whose atoms at most one is not.
    """

    dim: int = 50
    margin: float = 0.1
    rule_weight: float = 0.1
    on: Literal["train", "closure"] = "train"
    observed: Observed = "premises"
    passes: int = 1000
    batches: int = 100
    learning_rate: float = 0.1
    seed: int = 0
    device: str = "auto"

    def __post_init__(self) -> None:
        for name in ("dim", "margin", "passes", "batches", "learning_rate"):
            if not getattr(self, name) > 0:
                raise InputError(f"{name}: expected a number above 0, got {getattr(self, name)}")
        if not self.rule_weight >= 0:
            raise InputError(f"rule_weight: expected 0 or more, got {self.rule_weight}")
        for name, known in (("on", ("train", "closure")), ("observed", ("premises", "all-but-one"))):
            if getattr(self, name) not in known:
                raise InputError(f"{name}: '{getattr(self, name)}' is not known; expected {' or '.join(known)}")


_FB122 = KaleSettings(dim=100, margin=0.1, rule_weight=0.0)
_WN18 = KaleSettings(dim=50, margin=0.2, rule_weight=0.0)

CHOSEN: dict[tuple[str, str], KaleSettings] = {
    ("fb122", "transe"): _FB122,
    ("fb122", "kale-pre"): replace(_FB122, on="closure"),
    ("fb122", "kale-joint"): replace(_FB122, margin=0.12, rule_weight=0.1),
    ("wn18", "transe"): _WN18,
    ("wn18", "kale-pre"): replace(_WN18, on="closure"),
    ("wn18", "kale-joint"): replace(_WN18, rule_weight=0.1),
}
"""The settings with which the rows of each data set are repeated, by table and row.

Without rules the model is TransE; KALE-Pre is the same on the closure of train. They were chosen on valid, by the
search in ``results/grid-kale.jsonl``. All make 1,000 passes, as KALE's authors did.
"""
