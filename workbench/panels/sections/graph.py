"""The optimization level, and each graph pass by its name."""

from __future__ import annotations

import ipywidgets as W

from workbench.config import Config, pass_help, shipped_passes
from workbench.panels.changes import on_change
from workbench.panels.sections.section import Section
from workbench.panels.table import Table

CAPTION = "Passes: uncheck one to disable it."
LEVELS = {1: "basic", 2: "extended", 3: "layout", 4: "all"}


class Graph(Section):
    """The level, and the passes that are disabled."""

    group = "graph"
    hint = "How far ORT rewrites the graph while loading, and each pass by its name"

    def build(self) -> list[W.Widget]:
        passes = sorted(shipped_passes().passes, key=lambda graph_pass: (graph_pass.level, graph_pass.name))
        rows = [
            (graph_pass.name, LEVELS.get(graph_pass.level, str(graph_pass.level)), pass_help(graph_pass.name))
            for graph_pass in passes
        ]
        self.passes = Table.of_rows(
            ("pass", "level", "what it does"), rows, CAPTION,
            key=0, under=2, mark="off", mark_name="on",
        )  # fmt: skip
        on_change(self.passes, self._disable, "picked", status=self.status)
        return [*super().build(), self.passes]

    def show(self, config: Config) -> None:
        super().show(config)
        self.passes.picked = list(config.disabled_passes)
        self.passes.caption = caption(config.level)
        self.passes.muted = above(config.level)

    def _disable(self, names: list[str]) -> None:
        self.set("disabled_passes", tuple(names))


def above(level: str | None) -> dict[str, str]:
    """Return the passes that do not run at a level, each with the reason."""
    last = {"disabled": 0, **{name: number for number, name in LEVELS.items()}}[level or "all"]
    reason = (
        "does not run: the level is disabled" if level == "disabled" else f"does not run at level {level}"
    )
    return {shipped.name: reason for shipped in shipped_passes().passes if shipped.level > last}


def caption(level: str | None) -> str:
    """Return the caption of the passes, with those that do not run at a level."""
    if level == "disabled":
        return "At level disabled none of these passes runs."
    return CAPTION if level in (None, "all") else f"{CAPTION} Those above level {level} do not run."
