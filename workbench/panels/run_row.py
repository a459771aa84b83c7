"""The run row: what can be run, how far it is, and the way to stop it."""

from __future__ import annotations

from collections.abc import Callable

import ipywidgets as W

from workbench.panels.bench import Bench
from workbench.panels.guard import shown_in
from workbench.panels.jobs import JobView
from workbench.panels.markup import text


class RunRow:
    """Starts and cancels; shows what a job says."""

    def __init__(self, bench: Bench) -> None:
        self.bench, self.state = bench, bench.state
        acts: tuple[tuple[str, str, Callable[[], None]], ...] = (
            ("Compare", "Measure A and B side by side and say which is faster", bench.compare),
            ("Explain", "What ORT makes of the graph under A and B; nothing is timed", bench.explain),
            ("Profile", "Where the time goes under A and B, with ORT's profiler on", bench.profile),
            ("Levels", "ORT's five levels, level by level, for the config shown", bench.levels),
            ("Ablate", "What each pass that fired is worth, for the config shown", bench.ablate),
        )
        self.buttons = {name: self._button(name, hint, act) for name, hint, act in acts}
        self.compare = self.buttons["Compare"]
        self.compare.button_style = "primary"
        hint = "Stop what runs; a result that is there stays"
        self.cancel = W.Button(description="Cancel", tooltip=hint, disabled=True)
        self.cancel.on_click(lambda _: self._cancel())
        self.progress, self.status = W.HTML(), W.HTML()
        first, others = W.HBox([self.compare, self.cancel]), W.HBox(list(self.buttons.values())[1:])
        for row in (first, others):
            row.add_class("wbp-moves")
        self.widget = W.VBox([first, others, self.progress, self.status])
        self.widget.add_class("wbp-run")
        self.state.observe(self._show, names="job")
        self._show()

    def _button(self, name: str, hint: str, act: Callable[[], None]) -> W.Button:
        button = W.Button(description=name, tooltip=hint)
        button.on_click(lambda _: self.start(act))
        if name != "Compare":
            button.add_class("wbp-small")
        return button

    def start(self, act: Callable[[], None]) -> None:
        """Begin; what keeps it from beginning is shown here."""
        with shown_in(self.status):
            act()

    def _cancel(self) -> None:
        self.bench.cancel()
        self._show()

    def _show(self, _: object = None) -> None:
        view = self.state.job
        for button in self.buttons.values():
            button.disabled = view is not None
        self.cancel.disabled = view is None or view.cancelling
        self.progress.value = "" if view is None else progress_html(view)


def progress_html(view: JobView) -> str:
    """A bar and a sentence; a bar without an end where nobody knows it."""
    share = "" if view.fraction is None else f'value="{view.fraction:.3f}"'
    doing = "cancelling" if view.cancelling else view.doing
    left = "" if view.remaining_s is None else f", at most {view.remaining_s:.0f} s left"
    so_far = "" if view.so_far is None else f", so far {view.so_far:.2f}×"
    said = text(f"{view.name}: {doing} · {view.elapsed_s:.0f} s{left}{so_far}")
    bar = f'<progress class="wbp-progress" max="1" {share} aria-label="progress"></progress>'
    return f'{bar}<div class="wbp-doing">{said}</div>'
