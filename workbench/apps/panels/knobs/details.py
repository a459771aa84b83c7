"""The rows that stand below an opened row of the table: what a value consists of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from workbench.apps.panels.knobs.option_row import FIELDS, option_rows
from workbench.apps.panels.knobs.row import KnobRow, SettingRow
from workbench.apps.panels.knobs.rows import ENGINE, MEMORY, knob_row, settings_of
from workbench.apps.panels.state import BenchState
from workbench.core.config import Config, ConfigPart, PreparedModel, part_types, pass_help, shipped_passes
from workbench.core.config.knob import Knob
from workbench.core.config.name_kinds import Switches
from workbench.core.config.parts import PartKnob

_LEVELS = {1: "basic", 2: "extended", 3: "layout", 4: "all"}


@dataclass(frozen=True, slots=True)
class PartRow(SettingRow):
    """A row of one field of a part, such as the calibrator of static int8."""

    part: str = ""  # the field of a config that holds the part
    kind: type[ConfigPart] = ConfigPart
    knob: Knob | None = None
    item: str = ""  # one name of a knob of many switches

    def held(self, config: Config) -> ConfigPart | None:
        """Return the part of a config, if it is of this kind."""
        inner = config.arithmetic if self.part == "precision" and self.kind is not PreparedModel else None
        part = inner if inner is not None else getattr(config, self.part)
        return part if isinstance(part, self.kind) else None

    def value(self, config: Config) -> Any:
        part = self.held(config)
        if part is None or self.knob is None:
            return None
        value = getattr(part, self.knob.field)
        return dict(value).get(self.item) if self.item else value

    def with_value(self, config: Config, value: Any) -> Config:
        part = self.held(config)
        if part is None or self.knob is None:
            return config
        if self.item:
            others = {name: on for name, on in getattr(part, self.knob.field) if name != self.item}
            value = others if value is None else {**others, self.item: value}
        changed = self.kind(**{**part.changed(), self.knob.field: value})
        outer = getattr(config, self.part)
        if outer is not part and isinstance(outer, PreparedModel):
            changed = replace(outer, precision=changed)
        return config.replace(**{self.part: changed})

    def words(self, value: Any) -> str:
        return str(value) if self.item or self.knob is None else self.knob.words(value)

    def parse(self, text: str) -> Any:
        return self.knob.parse(text) if self.knob is not None else text

    def is_default(self, config: Config) -> bool:
        return bool(self.value(config) == next(iter(self.settings.values())))

    def has(self, config: Config) -> bool:
        return self.held(config) is not None


@dataclass(frozen=True, slots=True)
class PassRow(SettingRow):
    """A row of one graph pass."""

    lowest: int = 1  # level at which it runs

    def value(self, config: Config) -> Any:
        return self.key not in config.disabled_passes

    def with_value(self, config: Config, value: Any) -> Config:
        others = [name for name in config.disabled_passes if name != self.key]
        return config.replace(disabled_passes=tuple(others if value else [*others, self.key]))

    def shown(self, config: Config) -> str:
        last = {"disabled": 0, **{name: number for number, name in _LEVELS.items()}}[config.level or "all"]
        if self.lowest > last and self.value(config):
            return f"does not run: level {config.level}"
        return "on" if self.value(config) else "off"


@dataclass(frozen=True, slots=True)
class SizeRow(SettingRow):
    """A row of the size that ORT is told of a free dimension."""

    def value(self, config: Config) -> Any:
        return dict(config.free_dimensions).get(self.label)

    def with_value(self, config: Config, value: Any) -> Config:
        others = {name: size for name, size in config.free_dimensions if name != self.label}
        return config.replace(free_dimensions=others if value is None else {**others, self.label: value})

    def parse(self, text: str) -> Any:
        return {**KnobRow("free_dimensions", "", "", {}).parse(f"{self.label}={text}")}[self.label]


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
        return tuple(SizeRow(f"size/{name}", name, "The size that ORT always gets", {"free": None},
                             typed="a whole number") for name in sizes)  # fmt: skip
    if key in FIELDS.values():
        return tuple(row for row in option_rows() if FIELDS.get(row.owner) == key)
    if key == "providers":
        names = {provider.name for config in configs for provider in config.providers}
        return tuple(row for row in option_rows() if row.owner in names)
    field = {"file": "precision", "engine": ENGINE[0]}.get(key, key)
    if field not in ("precision", "fusion", "engine"):
        return ()
    wanted = [kind for kind in part_types(field).values() if (kind is PreparedModel) == (key == "file")]
    rows = [row for kind in wanted for row in part_rows(field, kind)]
    return tuple(row for row in rows if any(map(row.has, configs)))


def part_rows(field: str, kind: type[ConfigPart]) -> tuple[PartRow, ...]:
    """Return a row for each knob of a part; one for each of its switches."""
    rows = []
    defaults = {declared.name: declared.default for declared in fields(kind)}  # type: ignore[arg-type]
    for knob in kind.KNOBS:
        if isinstance(knob, PartKnob) or (kind is PreparedModel and knob.field == "model"):
            continue
        text = f"{knob.help} When: {knob.when}"
        names = knob.choices if isinstance(knob, Switches) else ("",)
        for name in names:
            settings = (
                {"default": None, "on": True, "off": False}
                if name
                else settings_of(knob, defaults[knob.field])
            )
            rows.append(
                PartRow(
                    f"{field}/{kind.KIND}/{knob.field}{'/' * bool(name)}{name}",
                    name.replace("_", " ") or knob.label,
                    text,
                    settings,
                    typed="" if len(settings) > 1 else "a value",
                    part=field,
                    kind=kind,
                    knob=knob,
                    item=name,
                )
            )
    return tuple(rows)


def pass_rows(fired: Mapping[str, int]) -> tuple[PassRow, ...]:
    """Return a row for each pass, those that fired first."""
    passes = sorted(
        shipped_passes().passes, key=lambda item: (-fired.get(item.name, 0), item.level, item.name)
    )
    return tuple(
        PassRow(
            item.name,
            f"{item.name}, fired {fired[item.name]:,}×" if fired.get(item.name) else item.name,
            f"Level {_LEVELS.get(item.level, item.level)}. {pass_help(item.name)}",
            {"on": True, "off": False},
            lowest=item.level,
        )
        for item in passes
    )


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
