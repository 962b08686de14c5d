"""The settings reference, written from ``config.Settings`` by ``python tools/settings_page.py FILE``."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic.fields import FieldInfo

from clausal.config import Settings
from clausal.presets import preset_names

_OVERFLOW = 2**31  # where sizes end for technical reasons, which no reader has to know
_TYPES = {int: "integer", float: "number", str: "text", bool: "true or false"}
_INTRODUCTION = """\
# Settings

Settings are TOML, in sections; `clausal train --config FILE` reads them. Every setting has a default, so a file names
only what differs. `--set section.key=value` changes one setting, after the file:

```
clausal train GRAPH --config settings.toml --set model.dim=200 --set clauses.adversary=closed-form
```

`--preset NAME` takes settings that come with clausal, before both; their names are [below](#presets).

Unknown keys and impossible values are refused. A run directory holds all its settings, defaults included, in
`config.toml`. From Python: `Settings.load(path)` or `Settings.from_mapping({"model": {"dim": 200}})`.

<!-- Generated from src/clausal/config.py by `make docs`. -->
"""

_ABOUT_PRESETS = """\
What the rows of the paper's tables, and of [those beyond it](../how-to/the-best-model.md), are
[reproduced](../how-to/reproduce.md) with; each file, `src/clausal_paper/presets/NAME.toml`, begins with the command
that trains it. `Settings.load(preset=NAME)` from Python. One more, `best`, is
[raced for on the graph](../how-to/search.md#without-a-search---preset-best)."""


def settings_page() -> str:
    """Return the settings reference in Markdown."""
    sections = [_section(name, field) for name, field in Settings.model_fields.items()]
    return "\n".join([_INTRODUCTION, *sections, _presets()])


def _section(name: str, field: FieldInfo) -> str:
    section: Any = field.annotation
    rows = [_row(key, setting) for key, setting in section.model_fields.items()]
    head = ["| key | values | default | meaning |", "|---|---|---|---|"]
    return "\n".join([f"## [{name}]", "", str(section.__doc__), "", *head, *rows, ""])


def _presets() -> str:
    rows = [f"| `{name}` | {_summary(Settings.load(preset=name))} |" for name in preset_names()]
    head = ["| preset | settings |", "|---|---|"]
    return "\n".join(["## Presets", "", _ABOUT_PRESETS, "", *head, *rows, ""])


def _summary(settings: Settings) -> str:
    """Name what presets differ in."""
    model, clauses = settings.model, settings.clauses
    facts = settings.facts
    words = [model.scorer, f"dim {model.dim}"]
    if facts.training == "corruption":
        words += [model.domain, f"margin {facts.margin:g}"]
    else:
        words += [facts.training, f"{facts.regulariser} {facts.regulariser_weight:g}", f"batches of {facts.batch_size}"]
        words += [f"relation weight {facts.relation_weight:g}"] * bool(facts.relation_weight)
        words += [f"label smoothing {facts.label_smoothing:g}"] * bool(facts.label_smoothing)
        words += [f"{model.free:g} free"] * bool(model.free)
    words.append("no clauses" if clauses.adversary == "none" else f"{clauses.adversary}, weight {clauses.weight:g}")
    return ", ".join(words)


def _row(key: str, setting: FieldInfo) -> str:
    values = _type(setting.annotation, setting.metadata)
    return f"| `{key}` | {values} | {_default(setting.default)} | {setting.description} |"


def _type(annotation: Any, metadata: Any = ()) -> str:
    """Describe the values of a setting in words."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _type(arguments[0], arguments[1].metadata)
    if origin is Literal:
        return ", ".join(f"`{choice}`" for choice in arguments)
    if origin is tuple:
        return f"list, each {_type(arguments[0])}" if arguments[-1] is ... else f"{len(arguments)} numbers"
    if origin in (Union, UnionType) and type(None) not in arguments:
        return " or ".join(_type(argument) for argument in arguments)
    if type(None) in arguments:
        return _type(next(argument for argument in arguments if argument is not type(None)))
    bounds = ", ".join(bound for limit in metadata if (bound := _bound(limit)))
    return f"{_TYPES[annotation]} {bounds}".rstrip()


def _bound(limit: Any) -> str | None:
    if (least := getattr(limit, "ge", None)) is not None:
        return f"≥ {least}"
    if (below := getattr(limit, "gt", None)) is not None:
        return f"> {below}"
    if (above := getattr(limit, "lt", None)) is not None and above < _OVERFLOW:
        return f"< {above}"
    return None


def _default(value: Any) -> str:
    return "none" if value is None else f"`{json.dumps(value)}`"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(settings_page(), encoding="utf-8")
