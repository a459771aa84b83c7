"""A row of the knob table: what it holds of a config, and the values that a cell offers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from workbench.core.config import Config, PreparedModel
from workbench.core.config.fields import BY_FIELD
from workbench.core.config.knob import Knob
from workbench.core.config.name_kinds import Entries, FreeSizes
from workbench.core.config.runtime import interpreter, name_of
from workbench.core.errors import ConfigError
from workbench.core.models.samples import sample_names
from workbench.core.stored_files import expanded


@dataclass(frozen=True, slots=True)
class SettingRow:
    """A row. `settings` are the values that a cell offers, in words; the first leaves the choice to ORT."""

    key: str
    label: str
    help: str
    settings: Mapping[str, Any]
    group: str = ""  # the heading that it stands under
    typed: str = ""  # what may be typed beside the settings; empty: nothing
    more: bool = False  # whether further rows are opened below it
    fields: tuple[str, ...] = ()  # of a config that it holds together

    def value(self, config: Config) -> Any:
        """Return what the config holds here."""
        raise NotImplementedError

    def with_value(self, config: Config, value: Any) -> Config:
        """Return the config with another value here."""
        raise NotImplementedError

    def words(self, value: Any) -> str:
        """Return a value that is none of the settings in words."""
        return str(value)

    def parse(self, text: str) -> Any:
        """Return the value that a typed text means."""
        return text

    def shown(self, config: Config) -> str:
        """Return what a cell shows: the words of a setting, else of the value itself."""
        value = self.value(config)
        return next((words for words, held in self.settings.items() if held == value), self.words(value))

    def changed(self, config: Config, text: str) -> Config:
        """Return the config with the setting, or the typed value, of this text."""
        if text in self.settings:
            return self.with_value(config, self.settings[text])
        if not self.typed:
            raise ConfigError(
                f"{self.label} cannot be {text[:40]!r}.", f"Choose one of {', '.join(self.settings)}."
            )
        return self.with_value(config, self.parse(text))

    def is_default(self, config: Config) -> bool:
        """Return whether the config leaves the choice to ORT."""
        return bool(self.value(config) == self.value(_defaults()))

    def has(self, config: Config) -> bool:  # noqa: ARG002 - of a row of a part
        """Return whether the config has something here that can be set."""
        return True


@dataclass(frozen=True, slots=True)
class KnobRow(SettingRow):
    """A row of one field of a config."""

    def value(self, config: Config) -> Any:
        return getattr(config, self.key)

    def with_value(self, config: Config, value: Any) -> Config:
        return config.replace(**{self.key: value})

    def words(self, value: Any) -> str:
        return self.knob.words(value)

    def parse(self, text: str) -> Any:
        if isinstance(self.knob, Entries | FreeSizes):
            pairs = (pair.partition("=") for pair in text.split(","))
            return {name.strip(): self.knob.parse_item(value.strip()) for name, _, value in pairs}
        return self.knob.parse(text)

    @property
    def knob(self) -> Knob:
        """The knob of the field."""
        return BY_FIELD[self.key]


@dataclass(frozen=True, slots=True)
class PrecisionKnobRow(KnobRow):
    """The row of the precision that is applied to the file, whichever file that is."""

    def value(self, config: Config) -> Any:
        return config.arithmetic

    def with_value(self, config: Config, value: Any) -> Config:
        if isinstance(config.precision, PreparedModel):
            return config.replace(precision=replace(config.precision, precision=value))
        return config.replace(precision=value)


@dataclass(frozen=True, slots=True)
class FileRow(SettingRow):
    """The row of the model file: the open model, or another one in its place."""

    def value(self, config: Config) -> Any:
        return config.precision.model if isinstance(config.precision, PreparedModel) else None

    def with_value(self, config: Config, value: Any) -> Config:
        if value is None:
            return config.replace(precision=config.arithmetic)
        if isinstance(config.precision, PreparedModel):
            return config.replace(precision=replace(config.precision, model=value))
        return config.replace(precision=PreparedModel(value, precision=config.precision))

    def parse(self, text: str) -> Any:
        if "://" not in text and text not in sample_names() and not _is_file(text):
            raise ConfigError(
                f"There is no model file {text[:200]!r}.", "Type a path, a URL or the name of a sample."
            )
        return text


@dataclass(frozen=True, slots=True)
class FieldsRow(SettingRow):
    """A row of several fields that belong together; a value is a tuple of theirs."""

    def value(self, config: Config) -> Any:
        return tuple(getattr(config, field) for field in self.fields)

    def with_value(self, config: Config, value: Any) -> Config:
        return config.replace(**dict(zip(self.fields, value, strict=True)))

    def words(self, value: Any) -> str:
        held = [
            f"{knob.label} {knob.words(item)}"
            for knob, item in zip(map(BY_FIELD.__getitem__, self.fields), value, strict=True)
            if item is not None
        ]
        return ", ".join(held)


@dataclass(frozen=True, slots=True)
class EngineRow(FieldsRow):
    """The row of what runs the model: an engine, and the environment that it is in."""

    def words(self, value: Any) -> str:
        engine, runtime = value
        name = BY_FIELD["engine"].unset if engine is None else str(engine)
        return name if runtime is None else f"{name} ({name_of(runtime)})"

    def parse(self, text: str) -> Any:
        """Return the ONNX Runtime of the environment that a path names."""
        interpreter(text)
        return None, str(Path(text).expanduser().absolute())


def _is_file(text: str) -> bool:
    try:
        return expanded(text).is_file()
    except OSError:  # a text that is longer than any path
        return False


@cache
def _defaults() -> Config:
    """Return the config that leaves every choice to ORT; making one checks all fields, and each cell asks."""
    return Config()
