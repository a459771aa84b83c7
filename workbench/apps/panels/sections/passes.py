"""Each graph pass by its name: those that fired on this model first, those above the level greyed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from workbench.apps.panels import widgets as W
from workbench.apps.panels.handlers import on_change
from workbench.apps.panels.sections.section import Section
from workbench.apps.panels.state import BenchState
from workbench.apps.panels.table import TableWidget
from workbench.core.config import Config, pass_help, shipped_passes

_COLUMNS = ("pass", "fired", "level", "what it does")
_CAPTION = "Uncheck a pass to disable it."
_NOT_KNOWN = "Explain A and B says which of them fire on this model."
_LEVELS = {1: "basic", 2: "extended", 3: "layout", 4: "all"}


class PassesSection(Section):
    """The passes that are disabled, and what each did to this model where that is known."""

    follows = ("result", "parts", "parts_made")

    def build(self) -> list[W.Widget]:
        self.passes = TableWidget.of_rows(_COLUMNS, (), "", mark="off", mark_name="on", key=0, under=3)
        on_change(self.passes, self._disable, "picked", status=self.status)
        return [self.passes]

    def show(self, config: Config) -> None:
        fired = fired_in(self.state)
        self.passes.fill(pass_rows(fired))
        self.passes.picked = list(config.disabled_passes)
        self.passes.caption = caption(config.level, known=bool(fired))
        self.passes.muted = above(config.level)

    def _disable(self, names: list[str]) -> None:
        self.set("disabled_passes", tuple(names))


def fired_in(state: BenchState) -> Mapping[str, int]:
    """Return how often each pass fired on this model, from the explanation of the config shown, or of any."""
    explanations = state.held_parts("explanation")
    if not explanations:
        return {}
    passes: Any = (explanations.get(state.editing) or next(iter(explanations.values()))).passes
    counts: Counter[str] = Counter()
    for fired in passes.fired if passes.followed else ():
        counts[fired.name] += len(fired.change.added) or len(fired.change.removed) or 1
    return counts if passes.followed else Counter(name for name, _ in passes.logged)


def pass_rows(fired: Mapping[str, int]) -> list[list[Any]]:
    """Return a row for each pass, those that fired first."""
    passes = sorted(
        shipped_passes().passes, key=lambda item: (-fired.get(item.name, 0), item.level, item.name)
    )
    return [
        [
            item.name,
            f"fired {fired[item.name]:,}×" if fired.get(item.name) else "",
            _LEVELS.get(item.level, str(item.level)),
            pass_help(item.name),
        ]
        for item in passes
    ]


def above(level: str | None) -> dict[str, str]:
    """Return the passes that do not run at a level, each with the reason."""
    last = {"disabled": 0, **{name: number for number, name in _LEVELS.items()}}[level or "all"]
    reason = (
        "does not run: the level is disabled" if level == "disabled" else f"does not run at level {level}"
    )
    return {shipped.name: reason for shipped in shipped_passes().passes if shipped.level > last}


def caption(level: str | None, *, known: bool) -> str:
    """Return the caption of the passes, with those that do not run at a level."""
    if level == "disabled":
        return "At level disabled none of these passes runs."
    texts = [_CAPTION]
    if level not in (None, "all"):
        texts.append(f"Those above level {level} do not run.")
    return " ".join([*texts, *([] if known else [_NOT_KNOWN])])
