"""How A and B are measured: not part of a config, the same for both."""

from __future__ import annotations

from functools import partial

from workbench.apps.panels import widgets as W
from workbench.apps.panels.handlers import on_change
from workbench.apps.panels.request import SMALLEST_EFFECT
from workbench.apps.panels.sections.section import Section
from workbench.core.config import Config
from workbench.core.errors import ConfigError

FIELDS = (  # (trait, label, unit, factor from the trait's unit, placeholder, help)
    ("budget_s", "time", "s", 1.0, "automatic",
     "Most seconds to measure. Automatic: about 10 s, more for slow models, and up to a minute more while "
     "the answer is open."),
    ("smallest_effect", "effect", "%", 100.0, "1",
     "The smallest difference that matters to you. Default 1 %."),
    ("pacing_s", "pause", "ms", 1000.0, "none",
     "A pause before each run, as requests that arrive now and then. Default: back to back."),
)  # fmt: skip
CLOCKS = (("wall time", "wall"), ("processor time", "cpu"))


class MeasuringSection(Section):
    """The time limit, the smallest effect of interest, the pace, and the clock."""

    def build(self) -> list[W.Widget]:
        self.boxes: dict[str, W.TextField] = {}
        for trait, label, unit, scale, placeholder, help in FIELDS:
            box = W.TextField(description=f"{label} ({unit})", placeholder=placeholder, tooltip=help)
            on_change(box, partial(self._set, trait, label, scale), status=self.status)
            self.boxes[trait] = box
        self.clock = W.Dropdown(
            description="clock",
            options=CLOCKS,
            tooltip="Of comparisons. Processor time is the work of a run at one thread: other programs "
            "hardly disturb it. Sweeps, load tests and searches take the configs as they are set.",
        )
        on_change(self.clock, partial(setattr, self.state, "clock"), status=self.status)
        return [*self.boxes.values(), self.clock]

    def show(self, config: Config) -> None:  # noqa: ARG002 - the same for both
        for trait, _, _, scale, _, _ in FIELDS:
            value = getattr(self.state, trait)
            self.boxes[trait].value = "" if value is None else f"{value * scale:g}"
        self.clock.value = self.state.clock

    def _set(self, trait: str, label: str, scale: float, typed: str) -> None:
        value = positive(label, typed, scale)
        setattr(self.state, trait, SMALLEST_EFFECT if value is None and trait == "smallest_effect" else value)
        self.refresh()


def positive(label: str, typed: str, scale: float) -> float | None:
    """Return a number above zero; None for an empty text."""
    if not typed.strip():
        return None
    try:
        value = float(typed) / scale
    except ValueError:
        value = 0.0
    if not 0 < value < 1e6:
        raise ConfigError(f"The {label} cannot be {typed[:40]!r}.", "Write a number above 0, or nothing.")
    return value
