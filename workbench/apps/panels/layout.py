"""All panels in their places, in one column: the model and the mode, the configs, what the mode shows."""

from __future__ import annotations

from traitlets import link

from workbench.apps.panels import widgets as W
from workbench.apps.panels.bench import Bench
from workbench.apps.panels.handlers import button, follow
from workbench.apps.panels.knobs.table import KnobTable
from workbench.apps.panels.markup import bug_html, error_html
from workbench.apps.panels.model_row import ModelRow
from workbench.apps.panels.run_row import STOP, RunRow
from workbench.apps.panels.state import MODES
from workbench.apps.panels.tabs.answer_words import progress_html
from workbench.apps.panels.tabs.results import Results
from workbench.apps.panels.without_anywidget import notice
from workbench.core.bundle.display import config_in_words
from workbench.drawing.markup import text
from workbench.drawing.page.banner import VERDICT_STYLE as VERDICT

# JupyterLab's own colours, readable in its light and dark themes
STYLE = f"<style>{W.static('panels.css')}\n{W.static('frame.css')}\n{VERDICT}</style>"
_MOST_LETTERS = 60  # of a config


class Layout:
    """Makes the panels and holds them."""

    def __init__(self, bench: Bench) -> None:
        self.bench, self.state = bench, bench.state
        self.results = Results(bench)
        self.modes = W.ToggleButtons(
            options=[(mode.capitalize(), mode) for mode in MODES], classes="wbp-modes"
        )
        self.projector = W.ToggleButton(
            description="A⁺", tooltip="Projector: large type, settings folded, ← → turn the views"
        )
        self.model_row = ModelRow(bench)
        self.run_row, self.table = RunRow(bench), KnobTable(bench)
        self.doing, self.status = W.HTML(), W.HTML()
        self.stop = button(STOP, "Stop what runs; older results stay", bench.cancel, self.status)
        self.running = W.HBox([self.doing, self.stop, self.status], classes="wbp-running")
        self.bug, self.told, self.body = W.HTML(), W.HTML(), W.VBox([], classes="wbp-body")
        ends = W.HBox([self.modes, self.results.sharing.menu, self.projector], classes="wbp-ends")
        top = W.HBox([self.model_row.widget, ends], classes="wbp-top")
        self.configs = W.HBox([self.table.widget, self.run_row.widget], classes="wbp-configs")
        self.form = W.VBox([])  # of the mode improve
        places = [top, self.results.sharing.shared, self.told, self.configs, self.form, self.body, self.bug]
        self.root = W.VBox([W.HTML(STYLE), notice(self.state), *places, bench.page.bridge], classes="wbp")
        bench.page.root = self.root.model_id
        bench.page.bridge.on["step"] = self._step
        link((self.state, "mode"), (self.modes, "value"))
        link((self.state, "projector"), (self.projector, "value"))
        follow(self.state, lambda: setattr(self.bug, "value", bug_html(self.state.bug)), "bug")
        follow(self.state, self._turn, "mode", "wide")
        follow(self.state, self._run, "job", "run_error")
        follow(self.state, self._project, "projector", "configs")

    def _turn(self) -> None:
        results, mode = self.results, self.state.mode
        W.set_shown(self.configs, mode == "explore" or (mode == "compare" and not self.state.wide))
        self.form.children = [results.pages["Improve"].row.widget] if mode == "improve" else []
        answer, page = [results.place.widget, results.views], results.places.get(mode.capitalize())
        self.body.children = answer if page is None else [self.running, page]
        self._run()

    def _run(self) -> None:
        """Show what runs, or why the last run gave nothing, where no answer stands."""
        job, error = self.state.job, self.state.run_error
        self.doing.value = progress_html(job) if job else error_html(error) if error else ""
        W.set_shown(self.stop, job is not None and self.state.mode == "results")  # the others have the place
        self.stop.disabled = job is not None and job.cancelling

    def _step(self, by: int) -> None:
        """Turn to a neighbour of the view; 0 ends the projector."""
        if by:
            self.results.step(by)
        else:
            self.state.projector = False

    def _project(self) -> None:
        on = self.state.projector
        (self.root.add_class if on else self.root.remove_class)("wbp-projector")
        baseline, *others = [
            f"<b data-label={label}>{label}</b> {text(config_in_words(config), _MOST_LETTERS)}"
            for label, config in self.state.configs.items()
        ]
        sentence = f"{', '.join(others)} against {baseline} · ← → turn the views · Esc ends"
        self.told.value = f'<div class="wbp-told">{sentence}</div>' if on else ""
