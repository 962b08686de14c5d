"""The reference page of the service."""

from pathlib import Path


def service_page():
    return (Path(__file__).parents[2] / "docs" / "reference" / "service.md").read_text(encoding="utf-8")
