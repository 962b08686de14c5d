"""From the best point of a grid to the preset of a row."""

from __future__ import annotations

from clausal.config import Settings
from clausal.presets import preset_text, read_preset
from clausal_paper.grid.axes import Point
from clausal_paper.tables.rows import Row


def chosen_preset(row: Row, point: Point) -> str:
    """Return a row's preset in TOML with the settings of a point, below the comments that it begins with."""
    import tomli_w

    values = read_preset(row.preset)
    for name, value in point.items():
        section, _, key = name.partition(".")
        values.setdefault(section, {})[key] = value
    Settings.from_mapping(values, row.preset)
    comments = [line for line in preset_text(row.preset).splitlines() if line.startswith("#")]
    return "\n".join([*comments, "", tomli_w.dumps(values)])
