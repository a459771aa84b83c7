"""The values of a config that name a program, a library or a file: what a stranger's config must not bring.

An option that the catalogue does not know can be of any kind, so it counts as one of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from workbench.config.catalogue import RUN, SESSION, catalogue
from workbench.config.config import Config
from workbench.config.option import Option
from workbench.config.precision import PreparedModel

Opens = Literal["program", "library", "path", "model", "unknown"]


@dataclass(frozen=True, slots=True)
class PathValue:
    """One value of a config that the machine would start, load, read or write."""

    field: str  # of Config
    owner: str  # the provider's name, "session" or "run"; empty for a field of its own
    name: str  # of the option or entry; empty for a field of its own
    value: str
    opens: Opens

    @property
    def label(self) -> str:
        """The place of the value: "runtime", "session.optimized_model_filepath", "QNN… backend_path"."""
        return f"{self.owner} {self.name}" if self.field == "providers" else self.name or self.field


def path_options() -> tuple[Option, ...]:
    """Return every option of the catalogue whose value names or holds a file or a library."""
    return tuple(option for option in catalogue().all_options if option.opens is not None)


def path_values(config: Config) -> tuple[PathValue, ...]:
    """Return every value of the config that names a program, a library or a file."""
    values: list[PathValue] = []
    if config.runtime is not None:
        values.append(PathValue("runtime", "", "", config.runtime, "program"))
    if isinstance(config.precision, PreparedModel) and config.precision.model is not None:
        values.append(PathValue("precision", "", "", config.precision.model, "model"))
    for provider in config.providers:
        values += _among("providers", provider.name, provider.options)
    values += _among("session_entries", SESSION, config.session_entries)
    values += _among("run_entries", RUN, config.run_entries)
    return tuple(values)


def without_path_values(config: Config) -> Config:
    """Return the config without every value that names a program, a library or a file."""
    data = config.to_dict()
    for value in path_values(config):
        if value.field == "providers":
            for provider in data["providers"]:
                if provider["name"] == value.owner:
                    provider["options"].pop(value.name)
        elif value.name:
            data[value.field].pop(value.name)
        else:
            del data[value.field]
    return Config.from_dict(data)


def _among(field: str, owner: str, pairs: tuple[tuple[str, str], ...]) -> Iterator[PathValue]:
    for name, text in pairs:
        option = catalogue().find(owner, name)
        opens: Opens | None = "unknown" if option is None else option.opens
        if opens is not None:
            yield PathValue(field, owner, name, text, opens)
