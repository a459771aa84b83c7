"""The space of a study: what may vary, as changes of a config."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from math import prod
from typing import Any

from workbench.config import Config
from workbench.errors import ConfigError
from workbench.text import listed, quoted

JOINED = ("disabled_passes", "rewrites", "session_entries", "run_entries", "free_dimensions")
"""Fields whose values add up: each name is switched on its own."""


@dataclass(frozen=True, slots=True)
class Axis:
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

    axes: tuple[Axis, ...] = ()
    starts: tuple[Config, ...] = ()

    @classmethod
    def of(cls, **values: Any) -> Space:
        """Return a space with these values of each field, and ORT's default of each."""
        return cls().including(**values)

    def including(self, **values: Any) -> Space:
        """Return the space with more values of these fields."""
        axes = {axis.name: axis.options for axis in self.axes}
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
                axes[axis] = tuple(dict.fromkeys((*axes.get(axis, ()), change)))
        return Space(tuple(Axis(name, options) for name, options in axes.items()), self.starts)

    def without(self, *names: str) -> Space:
        """Return the space without these axes, by name or by the field that they vary."""
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
        return Space(tuple(axis for axis in self.axes if axis.name not in gone), starts)

    @property
    def moves(self) -> tuple[tuple[str, Config], ...]:
        """Return every single change with the name of its axis, then the starts."""
        single = [(axis.name, option) for axis in self.axes for option in axis.options]
        return (*single, *(("together", start) for start in self.starts))

    def configs(self, base: Config | None = None) -> Iterator[Config]:
        """Yield every config of the space that ORT accepts, the base first."""
        base = base or Config()
        for options in product(*((None, *axis.options) for axis in self.axes)):
            config: Config | None = base
            for option in options:
                config = merged(config, option) if config is not None and option is not None else config
            if config is not None:
                yield config

    def __len__(self) -> int:
        """Return the number of combinations."""
        return prod(1 + len(axis.options) for axis in self.axes)


@lru_cache(maxsize=4096)  # making a config checks every field
def merged(config: Config, change: Config) -> Config | None:
    """Return the config with the change; None if both exclude each other."""
    values: dict[str, Any] = {}
    for name, value in change.changed().items():
        before = getattr(config, name)
        values[name] = tuple(dict.fromkeys((*before, *value))) if name in JOINED else value
    try:
        return config.replace(**values)
    except ConfigError:
        return None


def changes_of(config: Config, base: Config) -> int:
    """Return how many settings differ."""
    before, after = base.changed(), config.changed()
    count = 0
    for name in {*before, *after}:
        if name in JOINED:
            count += len({*before.get(name, ())} ^ {*after.get(name, ())})
        else:
            count += before.get(name) != after.get(name)
    return count


def _change(name: str, option: Any) -> Config:
    if option is None:
        return Config()
    return Config().replace(**{name: (option,) if name in JOINED else option})


def _word(option: Any) -> str:
    return "=".join(map(str, option)) if isinstance(option, tuple) else str(option)


def _covers(name: str, axis: str) -> bool:
    return axis == name or axis.startswith(f"{name}.") or axis.endswith(f".{name}")
