"""The difference of two configs in words."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

from workbench.core.config.fields import BY_FIELD, KNOBS, ConfigFields
from workbench.core.html_table import facts_table


@dataclass(frozen=True, slots=True)
class Change:
    """One changed setting, in words; a value that was left to ORT reads like "ORT's choice"."""

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
        """Return the difference in one sentence, with the labels of the two runs."""
        if not self.changes:
            return f"{after} is the same as {before}"
        return f"{after} differs from {before} in: {', '.join(map(str, self.changes))}"

    def __str__(self) -> str:
        return self.sentence()

    def _repr_html_(self) -> str:
        return f"<span>{escape(str(self))}</span>"


def between(before: ConfigFields, after: ConfigFields) -> ConfigDifference:
    """Return the changes in the order of the knobs."""
    changes: list[Change] = []
    for knob in KNOBS:
        old, new = getattr(before, knob.field), getattr(after, knob.field)
        if old != new:
            changes += [Change(knob.field, *words) for words in knob.changes(old, new)]
    return ConfigDifference(tuple(changes))


def to_html(config: ConfigFields) -> str:
    """Return a small table of what was set."""
    facts = [(BY_FIELD[name].label, BY_FIELD[name].cell(value)) for name, value in config.changed().items()]
    return facts_table(facts) if facts else "<span>Config: ORT defaults</span>"
