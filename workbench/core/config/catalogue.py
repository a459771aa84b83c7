"""The options of every provider, of a session and of a run: facts in `data/`, one JSON file an owner."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from typing import TYPE_CHECKING, Any

from workbench.core.config.option import Option
from workbench.core.errors import ConfigError
from workbench.core.text import did_you_mean, quoted

if TYPE_CHECKING:
    import pandas as pd

SESSION, RUN = "session", "run"
ORT_VERSION = "1.31.1"  # the onnxruntime-gpu wheel whose binaries `in_this_ort` speaks of


@dataclass(frozen=True, slots=True)
class ProviderCard:
    """The purpose of a provider, and how to get it."""

    name: str  # ORT's
    alias: str  # ours, as in Config(providers=["cuda"])
    hardware: str
    platforms: str
    wheel: str  # where it comes from today
    strengths: str
    limits: str


@dataclass(frozen=True, slots=True)
class Catalogue:
    """All options that have a key. `options` takes a provider's name or alias, "session" or "run"."""

    providers: tuple[ProviderCard, ...]
    all_options: tuple[Option, ...]

    def provider(self, name: str) -> ProviderCard:
        """Return the card of a provider, by ORT's name or ours."""
        for card in self.providers:
            if name.casefold() in (card.name.casefold(), card.alias):
                return card
        known = [card.alias for card in self.providers]
        raise ConfigError(
            f"{quoted(name)} is not a provider of the catalogue.",
            f"{did_you_mean(name, known)}Known: {', '.join(known)}.",
        )

    def options(self, owner: str) -> tuple[Option, ...]:
        """Return the options of a provider, of a "session" or of a "run", in the order of the catalogue."""
        name = owner if owner in (SESSION, RUN) else self.provider(owner).name
        return tuple(option for option in self.all_options if option.owner == name)

    def option(self, owner: str, name: str) -> Option:
        """Return one option; refuse an unknown name with the nearest known one."""
        known = {option.name: option for option in self.options(owner)}
        if name in known:
            return known[name]
        listing = f"Known: {', '.join(known)}." if known else "It takes none."
        raise ConfigError(f"{owner} has no option {quoted(name)}.", f"{did_you_mean(name, known)}{listing}")

    def find(self, owner: str, name: str) -> Option | None:
        """Return an option by its exact owner and name, or None where the catalogue has none."""
        return _by_key().get((owner, name))

    def search(self, text: str) -> tuple[Option, ...]:
        """Return the options with every word of `text` in their owner, name or help."""
        words = text.casefold().split()
        return tuple(
            option
            for option in self.all_options
            if all(word in f"{option.owner} {option.name} {option.help}".casefold() for word in words)
        )

    def to_frame(self) -> pd.DataFrame:
        """Return a table with a row an option."""
        import pandas as pd

        columns = [field.name for field in fields(Option)]
        rows = [[getattr(option, column) for column in columns] for option in self.all_options]
        return pd.DataFrame(rows, columns=columns)


@cache
def catalogue() -> Catalogue:
    """Return the shipped catalogue, read once."""
    cards: list[ProviderCard] = []
    options: list[Option] = []
    for file in read_data("index")["files"]:
        data = read_data(file)
        if "card" in data:
            cards.append(ProviderCard(**data["card"]))
        owner = cards[-1].name if "card" in data else file
        options += [_option(owner, name, facts, data) for name, facts in data["options"].items()]
    return Catalogue(tuple(cards), tuple(options))


@cache
def read_data(name: str) -> Any:
    """Return the content of a shipped data file, read once."""
    from importlib import resources  # a zipped install has no folder

    return json.loads(resources.files(__package__).joinpath("data", f"{name}.json").read_text("utf-8"))


def check_needs(option: Option, given: Mapping[str, str]) -> None:
    """Refuse an option that does nothing without another one."""
    if option.needs and not any(given.get(key) == value for key, value in option.needs):
        wanted = " or ".join(f"{key}={value}" for key, value in option.needs)
        raise ConfigError(f"{option.label} does nothing alone.", f"Set {wanted} too, or drop it.")


@cache
def _by_key() -> Mapping[tuple[str, str], Option]:
    return {(option.owner, option.name): option for option in catalogue().all_options}


def _option(owner: str, name: str, facts: dict[str, Any], shared: dict[str, Any]) -> Option:
    kind = facts["type"]
    return Option(
        owner=owner,
        name=name,
        type=kind,
        default=facts.get("default"),
        choices=tuple(facts.get("choices", shared.get("bool", ("0", "1")) if kind == "bool" else ())),
        minimum=facts.get("min"),
        maximum=facts.get("max"),
        help=facts["help"],
        source=facts.get("source", shared["source"]),
        in_this_ort=facts.get("in_ort", shared.get("in_ort")),
        instead=facts.get("instead"),
        needs=tuple((key, value) for key, value in facts.get("needs", ())),
        opens=facts.get("opens", "path" if kind == "path" else None),
    )
