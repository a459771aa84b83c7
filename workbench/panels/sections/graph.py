"""How far ORT rewrites the graph, and each pass by its name."""

from __future__ import annotations

import ipywidgets as W

from workbench.config import Config, pass_help, shipped_passes
from workbench.panels.sections.section import Section
from workbench.panels.table import Table

LEVELS = {1: "basic", 2: "extended", 3: "layout", 4: "all"}


class Graph(Section):
    """The level, and the passes that are left out."""

    group = "graph"
    hint = "How far ORT rewrites the graph while loading, and each pass by its name"

    def build(self) -> list[W.Widget]:
        rows = [
            (one.name, LEVELS.get(one.level, str(one.level)), pass_help(one.name))
            for one in sorted(shipped_passes().passes, key=lambda one: (one.level, one.name))
        ]
        self.passes = Table.of_rows(
            ("pass", "level", "what it does"), rows, "Passes: take the check away to leave one out.",
            key=0, under=2, mark="off", mark_name="on",
        )  # fmt: skip
        self.listen(self.passes, self._picked, "picked")
        return [*super().build(), self.passes]

    def show(self, config: Config) -> None:
        super().show(config)
        self.passes.picked = list(config.disabled_passes)

    def _picked(self, names: list[str]) -> None:
        self.set("disabled_passes", tuple(names))
