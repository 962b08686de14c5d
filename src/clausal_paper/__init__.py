"""Experiments as recipes over the public API."""
