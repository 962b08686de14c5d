"""The engines that join facts: DuckDB on this machine, Spark on a cluster."""

from clausal.logic.engines.engine import Engine, EngineName, open_engine

__all__ = ["Engine", "EngineName", "open_engine"]
