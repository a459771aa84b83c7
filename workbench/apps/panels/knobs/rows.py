"""The rows that always stand in the knob table, and those of other fields that some config sets."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

from workbench.apps.panels.environments import Environment, choices
from workbench.apps.panels.knobs.row import (
    EngineRow,
    FieldsRow,
    FileRow,
    KnobRow,
    PrecisionKnobRow,
    SettingRow,
)
from workbench.core.config import KNOBS, Config, Knob, Provider, catalogue, kinds, name_kinds, part_types
from workbench.core.config.fields import BY_FIELD
from workbench.core.cpu import read_cpu, usable_cores

# What ORT does with a field that nobody set; ORT's documentation and ours say so.
IN_EFFECT = {"level": "all", "execution_mode": "sequential", "spinning": "on", "deterministic": "off"}
OFF = {"precision": "as in the file", "fusion": "off", "io_binding": "off"}
MEMORY = ("memory_pattern", "memory_reuse", "cpu_arena")
ENGINE = ("engine", "runtime")
MOST_COUNTS = 16  # thread counts that a cell offers; any other can be typed
_SECTIONS = {"disabled_passes": "passes"}  # of fields whose section is not called like their group


@cache
def standing_rows(environments: tuple[Environment, ...] = ()) -> tuple[SettingRow, ...]:
    """Return the rows that are always there, in their order; a config can run on the `environments`."""
    return (
        _file(),
        _row("level"),
        _row("precision"),
        _row("providers"),
        _engine(environments),
        _row("intra_op_threads", label="intra-op threads"),
        _row("execution_mode"),
        _row("spinning"),
        _row("fusion"),
        _memory(),
        _row("io_binding"),
    )


def other_rows(configs: Iterable[Config]) -> tuple[SettingRow, ...]:
    """Return the rows of the fields that some config sets and that have no standing row."""
    standing = {row.key for row in standing_rows()} | {*MEMORY, *ENGINE}
    changed = {field for config in configs for field in config.changed()} - standing
    return tuple(_row(knob.field) for knob in KNOBS if knob.field in changed)


def found_rows(words: list[str], environments: tuple[Environment, ...] = ()) -> tuple[SettingRow, ...]:
    """Return the rows of the knobs with every word in their name or help."""
    fields = [
        "memory" if knob.field in MEMORY else "engine" if knob.field in ENGINE else knob.field
        for knob in KNOBS
        if all(word in f"{knob.field} {knob.label} {knob.help}".casefold() for word in words)
        and not isinstance(knob, name_kinds.Entries)
    ]
    several = {"memory": _memory(), "engine": _engine(environments)}
    return tuple(several.get(field) or _row(field) for field in dict.fromkeys(fields))


def default_threads() -> int:
    """Return the intra-op threads of a session that nobody gave a number: one a physical core."""
    return read_cpu().physical_cores or usable_cores()


@cache
def _row(field: str, label: str = "") -> KnobRow:
    knob = BY_FIELD[field]
    kind = PrecisionKnobRow if field == "precision" else KnobRow
    return kind(
        field,
        label or knob.label,
        f"{knob.help} When: {knob.when}",
        _settings(knob),
        section=_SECTIONS.get(field, knob.group),
        typed="a number" if isinstance(knob, kinds.Count) else "",
        more=not isinstance(knob, kinds.Choice | kinds.Flag | kinds.Switch | kinds.Count),
    )


def _settings(knob: Knob) -> dict[str, Any]:
    if knob.field == "providers":
        return {"default: CPU": (), **{card.alias: (Provider(card.alias),) for card in catalogue().providers}}
    if knob.field in ("precision", "fusion"):
        made = {kind.LABEL: _made(kind) for kind in part_types(knob.field).values()}
        return {OFF[knob.field]: None, **{label: part for label, part in made.items() if part is not None}}
    if isinstance(knob, kinds.Switch):
        return {"off": False, "on": True}
    unset = {f"default: {IN_EFFECT[knob.field]}" if knob.field in IN_EFFECT else knob.unset: None}
    if isinstance(knob, kinds.Choice):
        return {**unset, **{choice: choice for choice in knob.choices}}
    if isinstance(knob, kinds.Flag):
        return {**unset, "on": True, "off": False}
    if isinstance(knob, kinds.Count):
        unset = {f"default: {default_threads()}" if knob.field == "intra_op_threads" else "default": None}
        return {**unset, **{str(count): count for count in range(1, min(usable_cores(), MOST_COUNTS) + 1)}}
    return {knob.unset: getattr(Config(), knob.field)}


def _made(kind: Any) -> Any:
    """Return a part with its defaults; None for a kind that needs a file first."""
    needs_file = "model" in {knob.field for knob in kind.KNOBS}
    return None if needs_file else kind()


def _file() -> FileRow:
    return FileRow(
        "file",
        "model file",
        "The file that is loaded: the open model's own, or another one in its place, such as another export. "
        "When: two files are to be compared. More: outputs with other names, or of another net.",
        {"the open model": None},
        section="precision",
        typed="a path, a URL or a sample",
        more=True,
    )


def _memory() -> FieldsRow:
    settings = {
        "default: all on": (None, None, None),
        "no arena": (None, None, False),
        "no pattern": (False, None, None),
        "no arena, no pattern": (False, None, False),
    }
    text = " ".join(BY_FIELD[field].help for field in MEMORY)
    return FieldsRow("memory", "memory", text, settings, section="memory", more=True, fields=MEMORY)


@cache
def _engine(environments: tuple[Environment, ...]) -> EngineRow:
    text = " ".join(BY_FIELD[field].help for field in ENGINE)
    return EngineRow(
        "engine",
        BY_FIELD["engine"].label,
        text,
        choices(environments),
        section="providers",
        typed="folder or Python of an environment",
        more=True,
        fields=ENGINE,
    )
