"""The rows that stand below an opened row of the table: what a value consists of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from functools import partial
from typing import Any

from workbench.apps.panels.knobs.option_row import FIELDS, option_rows
from workbench.apps.panels.knobs.row import ARITHMETIC, SettingRow, ValuePlace, entry_place, field_place
from workbench.apps.panels.knobs.rows import ENGINE, MEMORY, knob_row, settings_of
from workbench.apps.panels.state import BenchState
from workbench.core.config import Config, ConfigPart, PreparedModel, part_types, pass_help, shipped_passes
from workbench.core.config.fields import BY_FIELD
from workbench.core.config.name_kinds import Switches
from workbench.core.config.parts import PartKnob

_LEVELS = {1: "basic", 2: "extended", 3: "layout", 4: "all"}


def detail_rows(
    key: str, configs: Iterable[Config], fired: Mapping[str, int], sizes: Iterable[str]
) -> tuple[SettingRow, ...]:
    """Return the rows below a row; `fired` are the passes that fired, `sizes` the free dimensions."""
    configs = tuple(configs)
    if key == "memory":
        return tuple(map(knob_row, MEMORY))
    if key == "disabled_passes":
        return pass_rows(fired)
    if key == "free_dimensions":
        return tuple(map(size_row, sizes))
    if key in FIELDS.values():
        return tuple(row for row in option_rows() if FIELDS.get(row.owner) == key)
    if key == "providers":
        used = {provider.name for config in configs for provider in config.providers}
        return tuple(row for row in option_rows() if row.owner in used)
    field = {"file": "precision", "engine": ENGINE[0]}.get(key, key)
    if field not in ("precision", "fusion", "engine"):
        return ()
    wanted = [kind for kind in part_types(field).values() if (kind is PreparedModel) == (key == "file")]
    rows = [row for kind in wanted for row in part_rows(field, kind)]
    return tuple(row for row in rows if any(map(row.has, configs)))


def size_row(name: str) -> SettingRow:
    """Return the row of the size that ORT is told of a free dimension."""
    knob = BY_FIELD["free_dimensions"]
    return SettingRow(
        f"size/{name}",
        name,
        "The size that ORT always gets",
        {"free": None},
        entry_place(field_place(knob.field), name),
        typed="a whole number",
        parse=lambda text: knob.parse_inside((), {name: text})[name],
    )


def part_rows(field: str, kind: type[ConfigPart]) -> tuple[SettingRow, ...]:
    """Return a row for each knob of a part, such as the calibrator of static int8, and for each switch."""
    rows: list[SettingRow] = []
    defaults = {declared.name: declared.default for declared in fields(kind)}  # type: ignore[arg-type]
    outer = ARITHMETIC if field == "precision" and kind is not PreparedModel else field_place(field)
    for knob in kind.KNOBS:
        if isinstance(knob, PartKnob) or (kind is PreparedModel and knob.field == "model"):
            continue
        key, text = f"{field}/{kind.KIND}/{knob.field}", f"{knob.help} When: {knob.when}"
        place = part_place(outer, kind, knob.field)
        if isinstance(knob, Switches):
            settings = {"default": None, "on": True, "off": False}
            rows += [
                SettingRow(f"{key}/{name}", name.replace("_", " "), text, settings, entry_place(place, name))
                for name in knob.choices
            ]
            continue
        settings = settings_of(knob, defaults[knob.field])
        typed = "" if len(settings) > 1 else "a value"
        rows.append(
            SettingRow(
                key, knob.label, text, settings, place, typed=typed, words=knob.words, parse=knob.parse
            )
        )
    return tuple(replace(row, has=lambda config: isinstance(outer.get(config), kind)) for row in rows)


def part_place(outer: ValuePlace, kind: type[ConfigPart], field: str) -> ValuePlace:
    """Return the place of a field of a part; a config whose part is of another kind has none and stays."""
    inner = field_place(field)

    def get(config: Config) -> Any:
        part = outer.get(config)
        return inner.get(part) if isinstance(part, kind) else None

    def put(config: Config, value: Any) -> Any:
        part = outer.get(config)
        return outer.put(config, inner.put(part, value)) if isinstance(part, kind) else config

    return ValuePlace(get, put)


def pass_rows(fired: Mapping[str, int]) -> tuple[SettingRow, ...]:
    """Return a row for each graph pass, those that fired first."""
    passes = sorted(
        shipped_passes().passes, key=lambda item: (-fired.get(item.name, 0), item.level, item.name)
    )
    return tuple(
        SettingRow(
            item.name,
            f"{item.name}, fired {fired[item.name]:,}×" if fired.get(item.name) else item.name,
            f"Level {_LEVELS.get(item.level, item.level)}. {pass_help(item.name)}",
            {"on": True, "off": False},
            pass_place(item.name),
            idle=partial(why_idle, item.name, item.level),
        )
        for item in passes
    )


def pass_place(name: str) -> ValuePlace:
    """Return the place that says whether a pass may run."""

    def put(config: Config, value: Any) -> Config:
        others = {*config.disabled_passes} - {name}
        return config.replace(disabled_passes=tuple(others if value else {*others, name}))

    return ValuePlace(lambda config: name not in config.disabled_passes, put)


def why_idle(name: str, lowest: int, config: Config) -> str:
    """Return that a pass does not run at the level of a config; empty if it runs or is left out."""
    last = {"disabled": 0, **{level: number for number, level in _LEVELS.items()}}[config.level or "all"]
    is_idle = lowest > last and name not in config.disabled_passes
    return f"does not run: level {config.level}" if is_idle else ""


def fired_in(state: BenchState) -> Mapping[str, int]:
    """Return how often each pass fired on this model, from the explanation of the config shown, or of any."""
    explanations = state.held_parts("explanation")
    if not explanations:
        return {}
    passes: Any = (explanations.get(state.editing) or next(iter(explanations.values()))).passes
    counts: Counter[str] = Counter()
    for fired in passes.fired if passes.followed else ():
        counts[fired.name] += len(fired.change.added) or len(fired.change.removed) or 1
    return counts if passes.followed else Counter(name for name, _ in passes.logged)
