"""One section of the configure column: a button that opens it, the knobs of a group, and its own errors."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from workbench.apps.panels import widgets as W
from workbench.apps.panels.bench import Bench
from workbench.apps.panels.controls import Controls, controls_of, with_help
from workbench.apps.panels.handlers import follow, own_changes, shown_in
from workbench.core.config import KNOBS, Config


class Section:
    """The knobs of a group; its body is built when it is first opened."""

    follows: tuple[str, ...] = ()  # traits of the state that it shows, too

    def __init__(self, bench: Bench, group: str, hint: str) -> None:
        self.bench, self.state, self.group = bench, bench.state, group
        self.controls: Controls = {}
        self.header = W.Button(description=f"▸ {self.group}", tooltip=hint, classes="wbp-section-button")
        self.open = False  # whether the body is on the screen
        self.widget = W.VBox([self.header], classes="wbp-section")
        self.header.on_click(lambda _: self.toggle())
        follow(self.state, self.refresh, "a", "b", "more", "editing", "model", *self.follows)

    @property
    def config(self) -> Config:
        """The config that the panels show."""
        return self.state.config(self.state.editing)

    @cached_property
    def status(self) -> W.HTML:
        """The errors of the section."""
        return W.HTML()

    @cached_property
    def body(self) -> W.VBox:
        """What stands below the header; made when the section is first opened, like its controls."""
        body = W.VBox([], classes="wbp-section-body")
        W.set_shown(body, False)
        self.widget.children = (self.header, body)
        return body

    def toggle(self) -> None:
        """Open or close the section."""
        if not self.body.children:
            self.body.children = [*self.build(), self.status]
        self.open = not self.open
        W.set_shown(self.body, self.open)
        self.refresh()

    def build(self) -> list[W.Widget]:
        """Return the widgets of the body: a control for each knob, with its help under it."""
        knobs = [knob for knob in KNOBS if knob.group == self.group]
        self.controls = controls_of(Config, knobs, self.set)
        return with_help(self.controls)

    def set(self, field: str, value: Any) -> None:
        """Change a field of the config; a value that the config refuses is marked here until it is fixed."""
        with shown_in(self.status):
            self.bench.set(field, value)
            self.refresh()

    def refresh(self) -> None:
        """Show the config as it is now."""
        self.header.description = f"{'▾' if self.open else '▸'} {self.group}"
        if self.open:
            self.status.value = ""
            with own_changes():
                self.show(self.config)

    def show(self, config: Config) -> None:
        """Show the values of `config` in the controls."""
        for field, control in self.controls.items():
            control.show(getattr(config, field))
