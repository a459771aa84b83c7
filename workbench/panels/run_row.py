"""The run row: buttons to start and cancel what runs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import ipywidgets as W

from workbench.panels.bench import Bench
from workbench.panels.buttons import button, buttons_of
from workbench.panels.changes import on_change, own_changes
from workbench.results.registry import KINDS

LABELS = {"Explain": "explanation", "Profile": "profile", "Levels": "levels", "Ablate": "ablation"}
MENU = "all that can be made…"


class RunRow:
    """Starts and cancels jobs."""

    def __init__(self, bench: Bench, turn: Callable[[str], None]) -> None:
        """`turn` selects a tab of the results by its title."""
        self.bench, self.state = bench, bench.state
        self.status = W.HTML()
        hint = "Measure all configs side by side and say which is faster"
        self.compare = button("Compare", hint, bench.compare, self.status, kind="")
        self.compare.button_style = "primary"
        hint = "Stop what runs; a result that is there stays"
        self.cancel = button("Cancel", hint, self._cancel, self.status, kind="")
        offered = {kind.name: kind for kind in KINDS if kind.button}
        finding, hint = (
            offered["findings"],
            "Search the best config, starting from A: its tab asks for the goal",
        )
        leading = [(finding.button, finding.hint, partial(bench.run, "findings")),
                   ("Tune", hint, partial(turn, "tune"))]  # fmt: skip
        specs = [(label, offered[kind].hint, partial(bench.run, kind)) for label, kind in LABELS.items()]
        self.buttons = {"Compare": self.compare, **buttons_of([*leading, *specs], self.status)}
        self.kinds = {kind.button: name for name, kind in offered.items()}
        self.menu = W.Dropdown(options=[MENU, *self.kinds], tooltip="Every further result, by its name")
        on_change(self.menu, self._run, status=self.status)
        _, *others = self.buttons.values()
        first = W.HBox([self.compare, self.cancel])
        first.add_class("wbp-main")
        second, third = W.HBox([*others[: len(leading)], self.menu]), W.HBox(others[len(leading) :])
        for row in (first, second, third):
            row.add_class("wbp-moves")
        self.widget = W.VBox([first, self.status, second, third])
        self.widget.add_class("wbp-run")
        self.state.observe(self._show, names="job")
        self._show()

    def _run(self, name: str) -> None:
        """Make the result that was chosen in the menu."""
        with own_changes():
            self.menu.index = 0
        self.bench.run(self.kinds[name])

    def _cancel(self) -> None:
        self.bench.cancel()
        self._show()

    def _show(self, _: object = None) -> None:
        view = self.state.job
        for name, pressed in self.buttons.items():
            pressed.disabled = view is not None and name != "Tune"
        self.menu.disabled = view is not None
        self.cancel.disabled = view is None or view.cancelling
