"""The banner: the verdict as a picture, and why the last run gave none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.apps.panels import widgets as W
from workbench.apps.panels.bench import Bench
from workbench.apps.panels.handlers import button, follow
from workbench.apps.panels.markup import error_html, note_html
from workbench.apps.panels.state import BenchState
from workbench.drawing.page.banner import verdict_html

if TYPE_CHECKING:
    from workbench.features.compare.result import Comparison

_NAMES = ("median", "p90", "memory", "load", "outputs")  # of the tiles that will stand here
TILES = "".join(
    f'<div class="v-tile v-none"><div class="v-name">{name}</div><div class="v-value">A → B</div></div>'
    for name in _NAMES
)


def empty_html(state: BenchState) -> str:
    """Return what to do next, in the place of a verdict."""
    steps = "Pick a model, change something in B, and press" if state.model is None else "Press"
    if state.model is not None and state.a == state.b:
        steps = "Change something in B, and press"
    return (
        f'<div class="wbp-verdict wbp-empty">{steps} <b>Compare</b>: '
        "both configs are measured in turns, and the verdict stands here."
        f'<div class="v-tiles" aria-hidden="true">{TILES}</div></div>'
    )


def can_go_on(result: Comparison | None) -> bool:
    """Return whether further rounds can say more: the baseline ran, and a candidate did."""
    if result is None:
        return False
    baseline, *candidates = result.runs
    return baseline.failure is None and any(run.failure is None for run in candidates)


class Banner:
    """Shows the verdict of the comparison on the screen, and why the last run gave none.

    The button `more` stands in the line of the next questions.
    """

    def __init__(self, bench: Bench) -> None:
        self.state = bench.state
        self.verdict, self.error, self.status = W.HTML(), W.HTML(), W.HTML()
        hint = "Measure further rounds; the earlier ones are kept"
        self.more = button("Measure longer", hint, bench.measure_more, self.status, classes="wbp-question")
        self.widget = W.VBox([self.error, self.verdict, self.status])
        follow(self.state, self._show, "result", "run_error", "model", "a", "b", "job")
        follow(self.state, self._lock, "result", "job")

    def _show(self) -> None:
        state = self.state
        self.error.value = error_html(state.run_error) if state.run_error else ""
        result = state.result
        if result is None:
            self.verdict.value = empty_html(state)
        else:
            why = note_html(result.why) if result.why else ""
            self.verdict.value = verdict_html(result.record, shares=result.time_elsewhere()) + why

    def _lock(self) -> None:
        W.set_shown(self.more, can_go_on(self.state.result))
        self.more.disabled = self.state.job is not None
