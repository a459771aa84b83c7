"""What one config has that another has not, in words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from workbench.config import runtime
from workbench.config.knobs import BY_FIELD, KNOBS, Knob
from workbench.text import QUOTED, one_line

if TYPE_CHECKING:
    from workbench.config.config import Config


@dataclass(frozen=True, slots=True)
class Change:
    """One thing turned. `before` and `after` are words; what nobody set reads like "ORT's choice"."""

    field: str  # of Config
    what: str  # "intra-op threads", "CUDAExecutionProvider device_id"
    before: str
    after: str

    def __str__(self) -> str:
        return f"{self.what} ({self.after} instead of {self.before})"


@dataclass(frozen=True, slots=True)
class ConfigDifference:
    """All that differs from A to B; false when nothing does."""

    changes: tuple[Change, ...]

    def __bool__(self) -> bool:
        return bool(self.changes)

    def sentence(self, before: str = "A", after: str = "B") -> str:
        """The difference in one sentence, with the labels of the two runs."""
        if not self.changes:
            return f"{after} is the same as {before}"
        return f"{after} differs from {before} in: {', '.join(map(str, self.changes))}"

    def __str__(self) -> str:
        return self.sentence()

    def _repr_html_(self) -> str:
        return f"<span>{escape(str(self))}</span>"


def between(before: Config, after: Config) -> ConfigDifference:
    """The changes in the order of the knobs."""
    changes: list[Change] = []
    for knob in KNOBS:
        old, new = getattr(before, knob.field), getattr(after, knob.field)
        if old != new:
            changes += _changes(knob, old, new)
    return ConfigDifference(tuple(changes))


def _changes(knob: Knob, old: Any, new: Any) -> Iterator[Change]:
    if knob.kind == "providers":
        yield from _provider_changes(knob, old, new)
    elif knob.kind == "part" and type(old) is type(new):
        for inner in new.KNOBS:
            pair = (getattr(old, inner.field), getattr(new, inner.field))
            if pair[0] != pair[1]:
                yield Change(
                    knob.field, f"{new.LABEL} {inner.label}", *(in_words(inner, one) for one in pair)
                )
    elif knob.kind in ("entries", "sizes"):
        olds, news = dict(old), dict(new)
        for key in sorted({*olds, *news}):
            if olds.get(key) != news.get(key):
                what = key if knob.kind == "entries" else f"dimension {key}"
                pair = (_short(str(olds.get(key, knob.unset))), _short(str(news.get(key, knob.unset))))
                yield Change(knob.field, _short(what), *pair)
    else:
        yield Change(knob.field, knob.label, in_words(knob, old), in_words(knob, new))


def _provider_changes(knob: Knob, old: Any, new: Any) -> Iterator[Change]:
    before, after = in_words(knob, old), in_words(knob, new)
    if before != after:
        yield Change(knob.field, knob.label, before, after)
    olds = {provider.name: provider for provider in old}
    for provider in new:
        was = dict(olds[provider.name].options) if provider.name in olds else {}
        now = dict(provider.options)
        for key in sorted({*was, *now}):
            if was.get(key) != now.get(key):
                pair = (_short(was.get(key, "its default")), _short(now.get(key, "its default")))
                yield Change(knob.field, f"{provider.short_name} {key}", *pair)


def in_words(knob: Knob, value: Any) -> str:
    """A field's value as a sentence says it."""
    if value is None or value == ():
        return knob.unset
    if isinstance(value, bool):
        return "on" if value else "off"
    if knob.field == "runtime":
        return runtime.name_of(value)
    if knob.kind == "providers":
        return " then ".join(provider.short_name for provider in value)
    if isinstance(value, tuple):
        return _short(
            ", ".join(item if isinstance(item, str) else "=".join(map(str, item)) for item in value)
        )
    return _short(str(value))


def to_html(config: Config) -> str:
    """A small table of what was set; keys and texts may be a stranger's."""
    rows = [
        f"<tr><th>{escape(BY_FIELD[name].label)}</th><td>{escape(_cell(BY_FIELD[name], value))}</td></tr>"
        for name, value in config.changed().items()
    ]
    return (
        f"<table>{''.join(rows)}</table>" if rows else "<span>Config: what ORT does when told nothing</span>"
    )


def _cell(knob: Knob, value: Any) -> str:
    if knob.kind != "providers":
        return in_words(knob, value)
    described = [
        " ".join([provider.short_name, *(f"{key}={_short(text)}" for key, text in provider.options)])
        for provider in value
    ]
    return ", then ".join(described)


def _short(text: str) -> str:
    return one_line(text, QUOTED)
