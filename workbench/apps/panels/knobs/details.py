"""The rows that stand below an opened row of the table: what a value consists of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from workbench.apps.panels.knobs.option_row import OWNERS, option_rows
from workbench.apps.panels.knobs.row import ARITHMETIC, SettingRow, ValuePlace, entry_place, field_place
from workbench.apps.panels.knobs.rows import row_of
from workbench.apps.panels.knobs.shared_row import named_dimensions
from workbench.apps.panels.state import BenchState
from workbench.core.config import Config, ConfigPart, PreparedModel, part_types, pass_help, shipped_passes
from workbench.core.config.fields import BY_FIELD
from workbench.core.config.name_kinds import Switches
from workbench.core.config.passes import GraphPass

_LEVELS = BY_FIELD["level"].choices  # ORT numbers them from 0


def detail_rows(key: str, state: BenchState) -> Iterable[SettingRow]:
    """Return the rows below the row with this key."""
    configs = state.configs.values()
    if key == "disabled_passes":
        return pass_rows(fired_in(state))
    if key == "free_dimensions":
        return map(size_row, named_dimensions(state.model))
    if key == "providers" or key in OWNERS:
        used = {provider.name for config in configs for provider in config.providers}
        owners = {OWNERS[key]} if key in OWNERS else used
        return [row for row in option_rows() if row.owner in owners]
    field = "precision" if key == "file" else key
    wanted = [kind for kind in part_types(field).values() if (kind is PreparedModel) == (key == "file")]
    rows = [row for kind in wanted for row in part_rows(field, kind)]
    return [row for row in rows if any(map(row.has, configs))]


def size_row(name: str) -> SettingRow:
    """Return the row of the size that ORT is told of a free dimension."""
    sizes: Any = BY_FIELD["free_dimensions"]
    place, typed = entry_place(field_place(sizes.field), name), "a whole number"
    help, settings = "The size that ORT always gets", {sizes.unset: None}
    return SettingRow(f"size/{name}", name, help, settings, place, typed=typed, parse=sizes.parse_item)


def part_rows(field: str, kind: type[ConfigPart]) -> tuple[SettingRow, ...]:
    """Return a row for each knob of a part, such as the calibrator of static int8, and for each switch."""
    rows: list[SettingRow] = []
    outer = ARITHMETIC if field == "precision" and kind is not PreparedModel else field_place(field)
    for knob in kind.KNOBS:
        if kind is PreparedModel and knob.field in ("model", "precision"):
            continue  # these stand in the table itself
        key, place = f"{field}/{kind.KIND}/{knob.field}", field_place(knob.field, outer, kind)
        row = row_of(knob, key, place, has=lambda config: isinstance(outer.get(config), kind))
        if not isinstance(knob, Switches):
            rows.append(row)
            continue
        settings = {"default": None, "on": True, "off": False}
        for name in knob.choices:
            label, own = name.replace("_", " "), entry_place(place, name)
            rows.append(replace(row, key=f"{key}/{name}", label=label, settings=settings, place=own))
    return tuple(rows)


def pass_rows(fired: Mapping[str, int]) -> tuple[SettingRow, ...]:
    """Return a row for each graph pass, those that fired first."""
    passes = sorted(
        shipped_passes().passes, key=lambda item: (-fired.get(item.name, 0), item.level, item.name)
    )
    return tuple(
        SettingRow(
            item.name,
            f"{item.name}, fired {fired[item.name]:,}×" if fired.get(item.name) else item.name,
            f"Level {_LEVELS[item.level]}. {pass_help(item.name)}",
            {"on": True, "off": False},
            pass_place(item.name),
            idle=partial(why_idle, item),
        )
        for item in passes
    )


def pass_place(name: str) -> ValuePlace:
    """Return the place that says whether a pass may run."""

    def put(config: Config, value: Any) -> Config:
        others = {*config.disabled_passes} - {name}
        return config.replace(disabled_passes=tuple(others if value else {*others, name}))

    return ValuePlace(lambda config: name not in config.disabled_passes, put)


def why_idle(item: GraphPass, config: Config) -> str:
    """Return that a pass does not run at the level of a config; empty if it runs or is left out."""
    is_idle = item.level > _LEVELS.index(config.level or "all") and item.name not in config.disabled_passes
    return f"does not run: level {config.level}" if is_idle else ""


def fired_in(state: BenchState) -> Mapping[str, int]:
    """Return how often each pass fired on this model, from the explanation of the config shown, or of any."""
    explanations = state.held_in_role("explains")
    if not explanations:
        return {}
    passes: Any = (explanations.get(state.editing) or next(iter(explanations.values()))).passes
    counts: Counter[str] = Counter()
    for fired in passes.fired if passes.followed else ():
        counts[fired.name] += len(fired.change.added) or len(fired.change.removed) or 1
    return counts if passes.followed else Counter(name for name, _ in passes.logged)
