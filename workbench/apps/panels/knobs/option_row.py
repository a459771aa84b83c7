"""Rows of the options in the catalogue: of a session, of a run, of a provider."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from workbench.apps.panels.knobs.row import SettingRow
from workbench.core.config import Config, Option, Provider, catalogue
from workbench.core.config.catalogue import RUN, SESSION
from workbench.core.config.plan import AFFINITY, SPINNING

FIELDS = {SESSION: "session_entries", RUN: "run_entries"}


@dataclass(frozen=True, slots=True)
class OptionRow(SettingRow):
    """A row of one option; its value is a text, or None if it is not set."""

    owner: str = ""
    name: str = ""
    absent: bool = False  # from this build of ORT

    def value(self, config: Config) -> Any:
        if self.owner in FIELDS:
            return dict(getattr(config, FIELDS[self.owner])).get(self.name)
        provider = next((item for item in config.providers if item.name == self.owner), None)
        return None if provider is None else provider.option(self.name)

    def with_value(self, config: Config, value: Any) -> Config:
        if self.owner in FIELDS:
            field = FIELDS[self.owner]
            return config.replace(**{field: self._with(dict(getattr(config, field)), value)})
        names = [item.name for item in config.providers]
        providers = config.providers
        if self.owner not in names and value is not None:
            providers = (Provider(self.owner), *providers)
        changed = (
            Provider(item.name, self._with(dict(item.options), value)) if item.name == self.owner else item
            for item in providers
        )
        return config.replace(providers=tuple(changed))

    def _with(self, options: dict[str, str], value: str | None) -> dict[str, str]:
        others = {name: text for name, text in options.items() if name != self.name}
        return others if value is None else {**others, self.name: value}


@cache
def option_rows() -> tuple[OptionRow, ...]:
    """Return a row for each option that can be set here."""
    own = {*SPINNING, AFFINITY}  # these have knobs of their own
    settable = [option for option in catalogue().all_options if option.instead is None]
    return tuple(_row(option) for option in settable if not (option.owner == SESSION and option.name in own))


def entries_have_rows(row: SettingRow, configs: Mapping[str, Config]) -> bool:
    """Return whether a row holds entries, each of which has a row of its own."""
    if row.key not in FIELDS.values():
        return False
    names = {name for config in configs.values() for name, _ in row.value(config)}
    return names <= {option.name for option in option_rows()}


def found_options(words: list[str]) -> tuple[OptionRow, ...]:
    """Return the rows with every word in the owner, the name or the help; hits in the name stand first."""
    hits = [
        row for row in option_rows() if all(word in f"{row.label} {row.help}".casefold() for word in words)
    ]
    return tuple(sorted(hits, key=lambda row: not all(word in row.label.casefold() for word in words)))


def _row(option: Option) -> OptionRow:
    session = option.owner in FIELDS
    owner = option.owner if session else catalogue().provider(option.owner).alias
    default = "default" if option.default is None else f"default: {option.default or 'empty'}"
    choices = ("off", "on") if option.type == "bool" else option.choices
    texts = option.choices or ()
    return OptionRow(
        f"{option.owner}/{option.name}",
        f"{owner} {option.name}",
        described(option),
        {default: None, **dict(zip(choices, texts, strict=True))},
        group="advanced" if session else "providers",
        typed="" if texts else option.allowed,
        owner=option.owner,
        name=option.name,
        absent=option.in_this_ort is False,
    )


def described(option: Option) -> str:
    """Return what an option does, which values it takes, and whether this ORT has it at all."""
    absent = " Not in this build of ORT." if option.in_this_ort is False else ""
    return f"{option.help} Values: {option.allowed}.{absent}"
