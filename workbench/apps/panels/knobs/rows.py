"""The rows of the table of all settings, one for each knob; engine and environment have one in common."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from operator import attrgetter
from typing import Any

from workbench.apps.panels.knobs.row import ARITHMETIC, SettingRow, ValuePlace, field_place
from workbench.core.config import KNOBS, Config, Knob, PreparedModel, Provider, catalogue, kinds, part_types
from workbench.core.config.fields import BY_FIELD
from workbench.core.config.name_kinds import Entries, FreeSizes, Names
from workbench.core.config.parts import PartKnob
from workbench.core.config.provider_knob import Providers
from workbench.core.cpu import read_cpu, usable_cores
from workbench.core.errors import ConfigError
from workbench.core.models.samples import sample_names
from workbench.core.stored_files import expanded
from workbench.features.doctor.engines import Environment, choices, runs_on_in_words, runs_on_of

ENGINE = ("engine", "runtime")
MOST_COUNTS = 16  # thread counts that a cell offers; any other can be typed
_IN_EFFECT = {  # what ORT does with a field that nobody set; ORT's documentation and ours say so
    "level": "all", "execution_mode": "sequential", "deterministic": "off", "providers": "CPU",
    **dict.fromkeys(("spinning", "memory_pattern", "memory_reuse", "cpu_arena"), "on"),
}  # fmt: skip
_ORDER = ("graph", "precision", "providers", "threads", "memory", "inputs", "advanced")  # of the groups
_DETAILED = (PartKnob, Providers, Names, Entries, FreeSizes)  # what they hold has rows of its own


@cache
def standing_rows(environments: tuple[Environment, ...] = ()) -> tuple[SettingRow, ...]:
    """Return all rows in their order; a config can run on the `environments`."""
    alone = [knob_row(knob.field) for knob in KNOBS if knob.field not in ENGINE]
    return (FILE, *sorted((*alone, _engine_row(environments)), key=lambda row: _ORDER.index(row.group)))


@cache
def knob_row(field: str) -> SettingRow:
    """Return the row of a knob of a config."""
    knob = BY_FIELD[field]
    place = ARITHMETIC if field == "precision" else field_place(field)
    return row_of(knob, field, place, group=knob.group, more=isinstance(knob, _DETAILED))


def row_of(knob: Knob, key: str, place: ValuePlace, **further: Any) -> SettingRow:
    """Return the row of a knob whose value is at a place."""
    return SettingRow(
        key, knob.label, f"{knob.help} When: {knob.when}", settings_of(knob), place,
        typed=knob.TYPED, words=knob.words, parse=knob.parse, **further,
    )  # fmt: skip


def default_threads() -> int:
    """Return the intra-op threads of a session that nobody gave a number: one a physical core."""
    return read_cpu().physical_cores or usable_cores()


def settings_of(knob: Knob) -> dict[str, Any]:
    """Return the values that a cell offers for a knob, in words, the default first."""
    effect = default_threads() if knob.field == "intra_op_threads" else _IN_EFFECT.get(knob.field)
    first = knob.words(knob.default) if effect is None else f"default: {effect}"
    offered = {words: value for words, value in _offered(knob).items() if value != knob.default}
    return {first: knob.default, **offered}


def _offered(knob: Knob) -> dict[str, Any]:
    match knob:
        case kinds.Choice():
            return {choice: choice for choice in knob.choices}
        case kinds.Flag() | kinds.Switch():
            return {"on": True, "off": False}
        case kinds.Count(group="threads"):
            return {str(count): count for count in range(1, min(usable_cores(), MOST_COUNTS) + 1)}
        case Providers():
            return {card.alias: (Provider(card.alias),) for card in catalogue().providers}
        case PartKnob():
            parts = part_types(knob.field).values()
            return {part.LABEL: part() for part in parts if part is not PreparedModel}  # which needs a file
        case _:
            return {}


def _put_file(config: Config, file: Any) -> Config:
    """Return the config with another model file; what was set about the one before stays."""
    if file is None:
        return config.replace(precision=config.arithmetic)
    held = config.precision if isinstance(config.precision, PreparedModel) else PreparedModel(file)
    return config.replace(precision=replace(held, model=file, precision=config.arithmetic))


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


FILE = SettingRow(
    "file",
    "model file",
    "The file that is loaded: the open model's own, or another one in its place, such as another export. "
    "When: two files are to be compared. More: outputs with other names, or of another net.",
    {"the open model": None},
    ValuePlace(field_place("model", field_place("precision"), PreparedModel).get, _put_file),
    group="precision",
    typed="a path, a URL or a sample",
    more=True,
    parse=_model_file,
)


def _engine_row(environments: tuple[Environment, ...]) -> SettingRow:
    """Return the row of the engine and of the environment that it is in; a value is a pair of both."""
    help, group = " ".join(BY_FIELD[field].help for field in ENGINE), BY_FIELD["engine"].group
    place = ValuePlace(
        attrgetter(*ENGINE), lambda config, pair: config.replace(engine=pair[0], runtime=pair[1])
    )
    return SettingRow(
        "engine", "engine", help, choices(environments), place, group, more=True, words=runs_on_in_words,
        typed="folder or Python of an environment", parse=runs_on_of,
    )  # fmt: skip
