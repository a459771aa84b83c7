"""Rows of the options in the catalogue: of a session, of a run, of a provider."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from workbench.apps.panels.knobs.row import SettingRow, ValuePlace, entry_place, field_place
from workbench.core.config import Config, Option, Provider, catalogue
from workbench.core.config.catalogue import RUN, SESSION
from workbench.core.config.plan import AFFINITY, SPINNING

OWNERS = {"session_entries": SESSION, "run_entries": RUN}  # of the options that a field holds


def _options_of(owner: str) -> ValuePlace:
    """Return the place of the options of a provider; the first one that is set brings the provider."""

    def get(config: Config) -> Any:
        return next((item.options for item in config.providers if item.name == owner), ())

    def put(config: Config, options: dict[str, str]) -> Config:
        is_new = bool(options) and owner not in {item.name for item in config.providers}
        providers = (Provider(owner), *config.providers) if is_new else config.providers
        changed = (Provider(owner, options) if item.name == owner else item for item in providers)
        return config.replace(providers=tuple(changed))

    return ValuePlace(get, put)


@cache
def option_rows() -> tuple[SettingRow, ...]:
    """Return a row for each option that can be set here; its value is a text, or None if it is not set."""
    own = {*SPINNING, AFFINITY}  # these have knobs of their own
    settable = [option for option in catalogue().all_options if option.instead is None]
    return tuple(_row(option) for option in settable if not (option.owner == SESSION and option.name in own))


def entries_have_rows(row: SettingRow, configs: Mapping[str, Config]) -> bool:
    """Return whether a row holds entries, each of which has a row of its own."""
    if row.key not in OWNERS:
        return False
    keys = {f"{OWNERS[row.key]}/{name}" for config in configs.values() for name, _ in row.value(config)}
    return keys <= {option.key for option in option_rows()}


def _row(option: Option) -> SettingRow:
    field = next((field for field, owner in OWNERS.items() if owner == option.owner), None)
    owner = option.owner if field else catalogue().provider(option.owner).alias
    default = "default" if option.default is None else f"default: {option.default or 'empty'}"
    choices = ("off", "on") if option.type == "bool" else option.choices
    texts, absent = option.choices or (), option.in_this_ort is False
    options = field_place(field) if field else _options_of(option.owner)
    return SettingRow(
        f"{option.owner}/{option.name}",
        f"{owner} {option.name}",
        f"{option.help} Values: {option.allowed}.{' Not in this build of ORT.' * absent}",
        {default: None, **dict(zip(choices, texts, strict=True))},
        entry_place(options, option.name),
        group="advanced" if field else "providers",
        typed="" if texts else option.allowed,
        owner=option.owner,
        absent=absent,
    )
