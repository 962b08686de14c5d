"""KALE (Guo et al. 2016), a baseline of the tables: TransE that ranks triples and ground rules by their truth."""

from clausal_paper.kale.groundings import GroundRules, ground_rules
from clausal_paper.kale.settings import CHOSEN, KaleSettings
from clausal_paper.kale.training import KaleReport, run_kale, train_kale

__all__ = ["CHOSEN", "GroundRules", "KaleReport", "KaleSettings", "ground_rules", "run_kale", "train_kale"]
