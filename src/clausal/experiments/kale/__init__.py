"""KALE (Guo et al. 2016), a baseline of the tables: TransE that ranks triples and ground rules by their truth."""

from clausal.experiments.kale.groundings import GroundRules, ground_rules
from clausal.experiments.kale.settings import KaleSettings
from clausal.experiments.kale.training import KaleReport, train_kale

__all__ = ["GroundRules", "KaleReport", "KaleSettings", "ground_rules", "train_kale"]
