"""How A and B are measured: not part of a config, the same for both."""

from __future__ import annotations

from functools import partial

import ipywidgets as W

from workbench.config import Config
from workbench.errors import ConfigError
from workbench.panels.sections.section import Section

EFFECT = 0.01  # wb.compare's own default
ASKED = (  # (trait, label, unit, how many of the unit a trait's unit has, unset, help)
    ("budget_s", "time", "s", 1.0, "automatic",
     "Most seconds to measure. Automatic: about 10 s, more for slow models."),
    ("smallest_effect", "effect", "%", 100.0, "1",
     "The smallest difference that matters to you. Default 1 %."),
    ("pacing_s", "pause", "ms", 1000.0, "none",
     "A pause before each run, as requests that arrive now and then. Default: back to back."),
)  # fmt: skip


class Measuring(Section):
    """The time it may take, the smallest effect of interest, and the pace."""

    group = "measuring"
    hint = "How long, how exactly, and at which pace A and B are measured"

    def build(self) -> list[W.Widget]:
        self.boxes: dict[str, W.Text] = {}
        for trait, label, unit, scale, unset, told in ASKED:
            box = W.Text(
                description=f"{label} ({unit})", placeholder=unset, tooltip=told, continuous_update=False
            )
            self.listen(box, partial(self._set, trait, label, scale))
            self.boxes[trait] = box
        return list(self.boxes.values())

    def show(self, config: Config) -> None:  # noqa: ARG002 - the same for both
        for trait, _, _, scale, _, _ in ASKED:
            value = getattr(self.state, trait)
            self.boxes[trait].value = "" if value is None else f"{value * scale:g}"

    def summary(self) -> str:
        state = self.state
        said = [f"at most {state.budget_s:g} s"] if state.budget_s else []
        return ", ".join([*said, *([f"pause {state.pacing_s * 1e3:g} ms"] if state.pacing_s else [])])

    def _set(self, trait: str, label: str, scale: float, given: str) -> None:
        value = positive(label, given, scale)
        setattr(self.state, trait, EFFECT if value is None and trait == "smallest_effect" else value)
        self.refresh()


def positive(label: str, given: str, scale: float) -> float | None:
    """A number above zero from a text; None from an empty one."""
    if not given.strip():
        return None
    try:
        value = float(given) / scale
    except ValueError:
        value = 0.0
    if not 0 < value < 1e6:
        raise ConfigError(f"The {label} cannot be {given[:40]!r}.", "Write a number above 0, or nothing.")
    return value
