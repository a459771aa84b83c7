"""The rows of the table of all settings, one for each knob or for several that belong together."""

from __future__ import annotations

from dataclasses import replace
from functools import cache, partial
from operator import attrgetter
from pathlib import Path
from typing import Any

from workbench.apps.panels.knobs.row import ARITHMETIC, SettingRow, ValuePlace, field_place
from workbench.core.config import KNOBS, Config, Knob, PreparedModel, Provider, catalogue, kinds, part_types
from workbench.core.config.fields import BY_FIELD
from workbench.core.config.name_kinds import Entries, FreeSizes, Names, Texts
from workbench.core.config.parts import PartKnob
from workbench.core.config.provider_knob import Providers
from workbench.core.config.runtime import interpreter, name_of
from workbench.core.cpu import read_cpu, usable_cores
from workbench.core.errors import ConfigError
from workbench.core.models.samples import sample_names
from workbench.core.stored_files import expanded
from workbench.features.doctor.engines import Environment, choices

# What ORT does with a field that nobody set; ORT's documentation and ours say so.
IN_EFFECT = {"level": "all", "execution_mode": "sequential", "spinning": "on", "deterministic": "off"}
MEMORY = ("memory_pattern", "memory_reuse", "cpu_arena")
ENGINE = ("engine", "runtime")
MOST_COUNTS = 16  # thread counts that a cell offers; any other can be typed
_ORDER = ("graph", "precision", "providers", "threads", "memory", "inputs", "advanced")  # of the groups
_DETAILED = (PartKnob, Providers, Names, Entries, FreeSizes)  # what they hold has rows of its own
_TYPED: dict[type[Knob], str] = {  # what may be typed for a kind of knob
    Providers: "a list: cuda, cpu",
    Entries: "name=value, name=value",
    FreeSizes: "name=size, name=size",
    Texts: "names, with commas",
    kinds.Count: "a number",
}


@cache
def standing_rows(environments: tuple[Environment, ...] = ()) -> tuple[SettingRow, ...]:
    """Return all rows in their order; a config can run on the `environments`."""
    several = {"memory_pattern": _memory(), "engine": _engine(environments)}
    knobs = sorted(KNOBS, key=lambda knob: _ORDER.index(knob.group))
    rows = [several.get(knob.field) or knob_row(knob.field) for knob in knobs]
    hidden = {*MEMORY, "runtime"}
    return (_file(), *(row for row in rows if row.key not in hidden))


def found_rows(words: list[str], environments: tuple[Environment, ...] = ()) -> tuple[SettingRow, ...]:
    """Return the rows with every word in their name or help; all of them without a word."""
    return tuple(
        row
        for row in standing_rows(environments)
        if all(word in f"{(row.key, *row.names)} {row.label} {row.help}".casefold() for word in words)
    )


def default_threads() -> int:
    """Return the intra-op threads of a session that nobody gave a number: one a physical core."""
    return read_cpu().physical_cores or usable_cores()


@cache
def knob_row(field: str) -> SettingRow:
    """Return the row of a knob."""
    knob = BY_FIELD[field]
    settings = settings_of(knob, getattr(Config(), field))
    typed = (words for kind, words in _TYPED.items() if isinstance(knob, kind))
    return SettingRow(
        field,
        knob.label,
        f"{knob.help} When: {knob.when}",
        settings,
        ARITHMETIC if field == "precision" else field_place(field),
        group=knob.group,
        typed=next(typed, "" if len(settings) > 1 else "a value"),
        more=isinstance(knob, _DETAILED),
        words=knob.words,
        parse=partial(_typed_value, knob),
    )


def _typed_value(knob: Knob, text: str) -> Any:
    """Return the value that a text means; names with a value each are typed with commas."""
    if isinstance(knob, Entries | FreeSizes):
        pairs = (pair.partition("=") for pair in text.split(","))
        return {name.strip(): knob.parse_item(value.strip()) for name, _, value in pairs}
    return knob.parse(text)


def settings_of(knob: Knob, default: Any) -> dict[str, Any]:
    """Return the values that a cell offers for a knob, in words, the default first."""
    if knob.field == "providers":
        return {"default: CPU": (), **{card.alias: (Provider(card.alias),) for card in catalogue().providers}}
    if isinstance(knob, PartKnob):
        made = (part for part in part_types(knob.field).values() if part is not PreparedModel)  # needs a file
        unset = "off" if knob.field == "fusion" else knob.unset
        return {unset: None, **{part.LABEL: part() for part in made}}
    words = f"default: {IN_EFFECT[knob.field]}" if knob.field in IN_EFFECT else knob.unset
    if isinstance(knob, kinds.Count) and default is None:
        words = f"default: {default_threads()}" if knob.field == "intra_op_threads" else "default"
    first = {words if default in (None, ()) else knob.words(default): default}
    if isinstance(knob, kinds.Choice):
        return first | {choice: choice for choice in knob.choices if choice != default}
    if isinstance(knob, kinds.Flag | kinds.Switch):
        return first | {word: on for word, on in (("on", True), ("off", False)) if on is not default}
    if isinstance(knob, kinds.Count) and knob.group == "threads":
        return first | {str(count): count for count in range(1, min(usable_cores(), MOST_COUNTS) + 1)}
    return first


def _file() -> SettingRow:
    """Return the row of the model file: the open model, or another one in its place."""

    def get(config: Config) -> Any:
        return config.precision.model if isinstance(config.precision, PreparedModel) else None

    def put(config: Config, file: Any) -> Config:
        if file is None:
            return config.replace(precision=config.arithmetic)
        if isinstance(config.precision, PreparedModel):
            return config.replace(precision=replace(config.precision, model=file))
        return config.replace(precision=PreparedModel(file, precision=config.precision))

    return SettingRow(
        "file",
        "model file",
        "The file that is loaded: the open model's own, or another one in its place, such as another export. "
        "When: two files are to be compared. More: outputs with other names, or of another net.",
        {"the open model": None},
        ValuePlace(get, put),
        group="precision",
        typed="a path, a URL or a sample",
        more=True,
        parse=_model_file,
    )


def _model_file(text: str) -> str:
    try:
        is_known = "://" in text or text in sample_names() or expanded(text).is_file()
    except OSError:  # a text that is longer than any path
        is_known = False
    if not is_known:
        raise ConfigError(
            f"There is no model file {text[:200]!r}.", "Type a path, a URL or the name of a sample."
        )
    return text


def _together(fields: tuple[str, ...]) -> ValuePlace:
    """Return the place of several fields; a value is a tuple of theirs."""

    def put(config: Config, values: Any) -> Config:
        return config.replace(**dict(zip(fields, values, strict=True)))

    return ValuePlace(attrgetter(*fields), put)


def _memory() -> SettingRow:
    settings = {
        "default: all on": (None, None, None),
        "no arena": (None, None, False),
        "no pattern": (False, None, None),
        "no arena, no pattern": (False, None, False),
    }
    return SettingRow(
        "memory",
        "memory",
        " ".join(BY_FIELD[field].help for field in MEMORY),
        settings,
        _together(MEMORY),
        group="memory",
        more=True,
        words=_memory_words,
        names=MEMORY,
    )


def _memory_words(values: Any) -> str:
    held = zip(map(BY_FIELD.__getitem__, MEMORY), values, strict=True)
    return ", ".join(f"{knob.label} {knob.words(value)}" for knob, value in held if value is not None)


def _engine(environments: tuple[Environment, ...]) -> SettingRow:
    """Return the row of what runs the model: an engine, and the environment that it is in."""
    return SettingRow(
        "engine",
        BY_FIELD["engine"].label,
        " ".join(BY_FIELD[field].help for field in ENGINE),
        choices(environments),
        _together(ENGINE),
        group="providers",
        typed="folder or Python of an environment",
        more=True,
        words=_engine_words,
        parse=_runtime,
        names=ENGINE,
    )


def _engine_words(value: Any) -> str:
    engine, runtime = value
    name = BY_FIELD["engine"].unset if engine is None else str(engine)
    return name if runtime is None else f"{name} ({name_of(runtime)})"


def _runtime(path: str) -> tuple[None, str]:
    """Return the ONNX Runtime of the environment that a path names."""
    interpreter(path)
    return None, str(Path(path).expanduser().absolute())
