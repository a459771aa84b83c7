"""The banner of a running job: what runs, how long it takes, the ratio so far, samples as they arrive."""

from __future__ import annotations

from workbench.apps.panels import widgets as W
from workbench.apps.panels.bench import Bench
from workbench.apps.panels.handlers import button, follow
from workbench.apps.panels.jobs import JobView
from workbench.apps.panels.markup import text
from workbench.core.measure.limits import Progress, Samples
from workbench.core.text import factor, factor_ends
from workbench.drawing.chart import run_look

WIDTH, ROW = 600, 11  # of the strip, in units of its picture
MARGIN = 4


class Live:
    """Stands above the verdict while something runs, and stays on the screen while the page scrolls."""

    def __init__(self, bench: Bench) -> None:
        self.bench, self.state = bench, bench.state
        self.progress, self.status = W.HTML(), W.HTML()
        hint = (
            "Stop what runs; a comparison keeps what is known after three rounds, else the older result stays"
        )
        self.cancel = button("Cancel", hint, bench.cancel, self.status)
        row = W.HBox([self.progress, self.cancel], classes="wbp-live-row")
        self.widget = W.VBox([row, self.status], classes="wbp-live")
        follow(self.state, self._show, "job")

    def _show(self) -> None:
        view = self.state.job
        W.set_shown(self.widget, view is not None)
        self.cancel.disabled = view is None or view.cancelling
        self.progress.value = "" if view is None else progress_html(view)


def progress_html(view: JobView) -> str:
    """Return a bar and a sentence; a bar without an end if nobody knows it."""
    share = left = ratio = strip = ""
    if (progress := view.progress) is not None:
        share = "" if progress.fraction is None else f'value="{progress.fraction:.3f}"'
        left = "" if progress.remaining_s is None else f", about {progress.remaining_s:.0f} s left"
        ratio, strip = ratio_text(progress), strip_svg(progress.samples)
    doing = "cancelling" if view.cancelling else view.doing
    sentence = text(f"{view.name}: {doing} · {view.elapsed_s:.0f} s{left}{ratio}")
    bar = f'<progress class="wbp-progress" max="1" {share} aria-label="progress"></progress>'
    return f'{bar}<div class="wbp-doing">{sentence}</div>{strip}'


def ratio_text(progress: Progress) -> str:
    """Return the provisional ratio of the first candidate with its interval, as far as there is one."""
    first = next((verdict for verdict in progress.verdicts if verdict.kind != "outputs differ"), None)
    if first is None or first.ratio is None:
        return ""
    return f", so far {factor(first.ratio, first.low, first.high)}{factor_ends(first.low, first.high)}"


def strip_svg(samples: Samples) -> str:
    """Draw the latest samples of each config on one axis from 0, a row for each."""
    most = max((max(values) for _, values in samples if values), default=0.0)
    if most <= 0:
        return ""
    rows = []
    for place, (label, values) in enumerate(samples):
        middle, style = ROW * place + ROW / 2, run_look(place)
        marks = "".join(
            f'<circle cx="{24 + (WIDTH - 24 - MARGIN) * value / most:.1f}" cy="{middle:.1f}" r="2.2"/>'
            for value in values
        )
        rows.append(
            f'<text x="2" y="{middle + 3.5:.1f}">{text(label)}</text>'
            f'<g fill="{style.color}" fill-opacity=".6">{marks}</g>'
        )
    height = ROW * len(samples)
    return (
        f'<svg class="wbp-strip" viewBox="0 0 {WIDTH} {height}" role="img" '
        f'aria-label="samples so far, from 0 to {most * 1e3:.3g} ms">{"".join(rows)}</svg>'
    )
