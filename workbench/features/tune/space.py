"""The space of a study: what may vary, as changes of a config."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import Any

from workbench.core.config import Config, Provider
from workbench.core.config.provider import CPU
from workbench.core.errors import ConfigError
from workbench.core.text import counted, listed, quoted

JOINED = ("disabled_passes", "rewrites", "session_entries", "run_entries", "free_dimensions")
"""Fields whose values add up: each name is switched on its own."""


@dataclass(frozen=True, slots=True)
class Dimension:
    """One thing that may vary. Each option holds its change alone; no change is always an option too."""

    name: str
    options: tuple[Config, ...]


@dataclass(frozen=True, slots=True)
class Space:
    """What a study may vary. `starts` are changes that are tried together, since alone they lose.

    `Space.of` takes the values of each field of a config; names in a list, such as disabled passes, are
    switched one by one.

    >>> import workbench as wb
    >>> len(wb.Space.of(intra_op_threads=(1, 2), disabled_passes=["GeluFusionL2"]))
    6
    """

    axes: tuple[Dimension, ...] = ()
    starts: tuple[Config, ...] = ()

    @classmethod
    def of(cls, **values: Any) -> Space:
        """Return a space with these values of each field, and ORT's default of each."""
        return cls().including(**values)

    def including(self, **values: Any) -> Space:
        """Return the space with more values of these fields."""
        axes = {axis.name: dict.fromkeys(axis.options) for axis in self.axes}
        for name, options in values.items():
            if isinstance(options, str) or not hasattr(options, "__iter__"):
                raise ConfigError(
                    f"{name}={quoted(options)} is no list of values", f"give several: {name}=(…, …)"
                )
            for option in options:
                change = _change(name, option)
                if change == Config():
                    continue
                axis = f"{name}.{_word(option)}" if name in JOINED else name
                axes.setdefault(axis, {})[change] = None
        return Space(tuple(Dimension(name, (*options,)) for name, options in axes.items()), self.starts)

    def without(self, *names: str) -> Space:
        """Return the space without these axes, by name or by the field that they vary.

        Options of other axes that need such a field go too: float16 on a GPU without `providers`.
        """
        gone = {axis.name for axis in self.axes for name in names if _covers(name, axis.name)}
        unknown = [name for name in names if not any(_covers(name, axis) for axis in gone)]
        if unknown:
            raise ConfigError(
                f"the space does not vary {quoted(unknown[0])}",
                f"it varies {listed([axis.name for axis in self.axes]) or 'nothing'}",
            )
        starts = tuple(
            start
            for start in self.starts
            if not {name.partition(".")[0] for name in gone} & {*start.changed()}
        )
        axes = (
            Dimension(
                axis.name, tuple(option for option in axis.options if not {*names} & {*option.changed()})
            )
            for axis in self.axes
            if axis.name not in gone
        )
        return Space(tuple(axis for axis in axes if axis.options), starts)

    @property
    def moves(self) -> tuple[tuple[str, Config], ...]:
        """Return every single change with the name of its axis, then the starts."""
        single = [(axis.name, option) for axis in self.axes for option in axis.options]
        return (*single, *(("together", start) for start in self.starts))

    @property
    def size_in_words(self) -> str:
        """Return how many single changes and how many combinations there are."""
        return f"{counted(len(self.moves), 'change')}, {counted(len(self), 'combination')}"

    def configs(self, base: Config | None = None) -> Iterator[Config]:
        """Yield every config of the space that ORT accepts once, the base first."""
        yielded = set()
        for config in self._from(0, base or Config(), ()):
            if config not in yielded:
                yielded.add(config)
                yield config

    def _from(self, place: int, config: Config, taken: tuple[Config, ...]) -> Iterator[Config]:
        """Yield the config with what the axes from this place on add to the changes already taken."""
        if place == len(self.axes):
            yield config
            return
        yield from self._from(place + 1, config, taken)
        for option in self.axes[place].options:
            further = extended(config, taken, option)
            if further is not None:
                yield from self._from(place + 1, further, (*taken, option))

    def __len__(self) -> int:
        """Return the number of combinations, or the largest length that Python has if there are more."""
        options = [option for axis in self.axes for option in axis.options if option.providers]
        fields = {name for option in options for name in option.changed()}
        conditional = tuple(
            axis for axis in self.axes if any(fields & {*option.changed()} for option in axis.options)
        )
        independent = [1 + len(axis.options) for axis in self.axes if axis not in conditional]
        return min(sys.maxsize, prod(independent) * _number_of_configs(conditional))


@lru_cache(maxsize=4096)  # making a config checks every field
def merged(config: Config, change: Config) -> Config | None:
    """Return the config with the change; None if both exclude each other.

    The options of a provider that the config has are added to those that it has there.
    """
    values: dict[str, Any] = {}
    for name, value in change.changed().items():
        before = getattr(config, name)
        if name == "providers":
            value = _with_options(before, value)
        values[name] = tuple(dict.fromkeys((*before, *value))) if name in JOINED else value
    try:
        return config.replace(**values)
    except ConfigError:
        return None


def combined(base: Config, changes: Iterable[Config]) -> Config | None:
    """Return the config with all changes; None if it is refused or if one of them undoes another."""
    config: Config | None = base
    taken: tuple[Config, ...] = ()
    for change in changes:
        config = None if config is None else extended(config, taken, change)
        taken = (*taken, change)
    return config


def extended(config: Config, taken: Iterable[Config], change: Config) -> Config | None:
    """Return the config with one more change; None if it is refused or undoes one of those taken."""
    further = merged(config, change)
    if further is None or any(merged(further, earlier) != further for earlier in taken):
        return None
    return further


def _with_options(before: tuple[Provider, ...], change: tuple[Provider, ...]) -> tuple[Provider, ...]:
    """Return the providers of a change; where they are the same as before, their options add up."""
    held = {provider.name: dict(provider.options) for provider in before}
    if {*held} - {CPU} != {provider.name for provider in change} - {CPU}:
        return change
    return tuple(
        Provider(provider.name, {**held.get(provider.name, {}), **dict(provider.options)})
        for provider in change
    )


@lru_cache(maxsize=64)
def _number_of_configs(axes: tuple[Dimension, ...]) -> int:
    """Return the number of configs of axes whose options belong to one provider each."""
    return sum(1 for _ in Space(axes).configs())


def changes_of(config: Config, base: Config) -> int:
    """Return how many settings differ."""
    before, after = base.changed(), config.changed()
    count = 0
    for name in {*before, *after}:
        if name in JOINED:
            count += len({*before.get(name, ())} ^ {*after.get(name, ())})
        elif name == "providers":
            count += len(_settings(before.get(name, ())) ^ _settings(after.get(name, ())))
        else:
            count += before.get(name) != after.get(name)
    return count


def parts_of(change: Config) -> tuple[Config, ...]:
    """Return the fields of a change, each alone; the whole change if a config refuses one of them."""
    try:
        return tuple(Config().replace(**{name: value}) for name, value in change.changed().items())
    except ConfigError:
        return (change,)


def _settings(providers: tuple[Provider, ...]) -> set[tuple[str, ...]]:
    """Return the names of the providers, and their options; the CPU's is always there."""
    names = {(provider.name,) for provider in providers if provider.name != CPU}
    return {*names, *((provider.name, *option) for provider in providers for option in provider.options)}


def _change(name: str, option: Any) -> Config:
    if option is None:
        return Config()
    return Config().replace(**{name: (option,) if name in JOINED else option})


def _word(option: Any) -> str:
    return "=".join(map(str, option)) if isinstance(option, tuple) else str(option)


def _covers(name: str, axis: str) -> bool:
    return axis == name or axis.startswith(f"{name}.") or axis.endswith(f".{name}")
