"""The tune tab: the goal, the limits, what may vary, and the best config that was found and proven."""

from __future__ import annotations

from typing import Any

import ipywidgets as W

from workbench.config import Config
from workbench.errors import WorkbenchError
from workbench.panels.bench import Bench
from workbench.panels.buttons import Spec, button, buttons_of
from workbench.panels.markup import note_html, text
from workbench.panels.table import Table
from workbench.panels.tabs.figure import titled_figure
from workbench.panels.tuning import TuneChoice, space_action, tune_action, tune_code
from workbench.records.goal import MOST_CALLERS, OBJECTIVES, OF_OUTPUTS, Goal
from workbench.records.study import StudyRecord
from workbench.results.study import Study
from workbench.text import counted

EMPTY = (
    "Tune searches the best config for a goal, starting from A: every change alone, the good ones together, "
    "each once more on the leader. The winner is then measured against A on fresh rounds. int8 takes part "
    "only with a limit on accuracy or error. Cancel keeps every finished round in the history."
)
COLUMNS = ["label", "config", "ratio", "low", "high", "rounds", "peak_rss_bytes", "load_s", "state", "reason"]
NONE = "nothing"  # no second objective


class TunePage:
    """The choices above, the answer with its figure and its table below."""

    def __init__(self, bench: Bench) -> None:
        self.bench, self.state = bench, bench.state
        single = [name for name in OBJECTIVES if name not in OF_OUTPUTS]
        self.objective = W.Dropdown(options=single, description="improve")
        self.second = W.Dropdown(options=[NONE, *OBJECTIVES], description="beside")
        self.callers = W.BoundedIntText(4, min=1, max=MOST_CALLERS, description="callers")
        self.accuracy = W.Text(description="accuracy drop", placeholder="% at most")
        self.error = W.Text(description="error", placeholder="% at most")
        self.memory = W.Text(description="memory", placeholder="MiB at most")
        self.budget = W.BoundedFloatText(120.0, min=10.0, max=7200.0, description="seconds")
        self.status, self.size, self.axes, self.answer = W.HTML(), W.HTML(), W.VBox([]), W.VBox([])
        specs: tuple[Spec, ...] = (
            ("What may vary", "Find what may pay for this model here", self._look),
            ("Start", "Search the best config, starting from A", self._start),
            ("Copy as Python", "The code that does the same", self._copy),
        )
        self.buttons = buttons_of(specs, self.status)
        goal = W.HBox(
            [
                *(self.objective, self.second, self.callers),
                *(self.accuracy, self.error, self.memory, self.budget),
            ]
        )
        row = W.HBox([*self.buttons.values(), self.size])
        for line in (goal, row):
            line.add_class("wbp-tools")
        self.checks: dict[str, W.Checkbox] = {}
        self.table: Table | None = None
        self.shown: Study | None = None  # the study whose rows and figure are in the page
        self.is_visible = False
        self._partial: Study | None = None  # of the running search
        self.widget = W.VBox([goal, row, self.status, self.axes, self.answer])
        self.widget.add_class("wbp-page")
        self.state.observe(lambda _: self._offer(), names="space")
        self.state.observe(self._new_model, names="model")
        self.state.observe(lambda _: self._watch(), names="job")
        self.state.observe(lambda _: self._draw(self.state.study), names="study")
        for field in (self.objective, self.second):
            field.observe(lambda _: self._enable(), names="value")
        self._offer()
        self._enable()

    def show(self) -> None:
        """Show the study, or what the tab does."""
        self.is_visible = True
        self._draw(self._partial or self.state.study)

    def hide(self) -> None:
        """Take the figure and the table out of the page."""
        self.is_visible = False
        self.answer.children = ()

    def _watch(self) -> None:
        """Follow the search: after each round the candidates and the front so far, which outlive its end."""
        self._enable()
        job = self.state.job
        partial = self._partial if job is None else job.partial
        if not isinstance(partial, Study):
            return
        if job is None:
            self._partial = self.shown = None
            self.state.study = partial
        elif partial is not self._partial:
            self._partial = partial
            if self.is_visible:
                self._draw(partial)

    def _draw(self, study: Study | None) -> None:
        if study is None:
            self.answer.children = [W.HTML(f'<div class="wbp-empty">{text(EMPTY)}</div>')]
        elif study is not self.shown or not self.answer.children:
            picked = list(self.table.picked) if self.table is not None else []
            frame = study.to_frame()
            self.table = Table.of_frame(frame[COLUMNS], "Pick one to use it.", "label")
            self.table.action, self.table.on_act = "Use as B", self._use_row
            self.table.picked = [label for label in picked if label in set(frame["label"])]
            uses = [
                button(f"Use as {label}", f"Put it into {label}", self._use(label), self.status)
                for label in "AB"
            ]
            row = W.HBox(uses)
            row.add_class("wbp-tools")
            is_running = self.state.study is not study
            headline = stopping_in_words(study.record) if is_running else study.record.headline
            figure = titled_figure(study.figure(), study.record.headline)
            state = W.HTML(note_html(headline) if is_running else "")
            self.answer.children = [state, figure, row, self.table]
        self.shown = study

    def _use_row(self, label: str) -> None:
        study = self.shown
        if study is not None:
            self.state.change(b=study.config(label))
            self.status.value = note_html(f"B is {label}. Press Compare to measure it.")

    def forget(self) -> None:
        """Do nothing: the study does not follow the comparison."""

    @property
    def choice(self) -> TuneChoice:
        """What the widgets ask for."""
        drop, error = (_number(field) for field in (self.accuracy, self.error))
        memory = _number(self.memory)
        goal = Goal(
            max_accuracy_drop=None if drop is None else drop / 100,
            max_error=None if error is None else error / 100,
            max_memory_bytes=None if memory is None else round(memory * 2**20),
        )
        left_out = tuple(name for name, check in self.checks.items() if not check.value)
        second = None if self.second.value == NONE else self.second.value
        return TuneChoice(self.objective.value, goal, self.budget.value, left_out, second, self.callers.value)

    @property
    def picked(self) -> Config:
        """The config of the picked row, by default the best one."""
        study = self.shown
        if study is None:
            raise WorkbenchError("There is no study yet.", "Press Start.")
        labels = list(self.table.picked) if self.table is not None else []
        config: Config = study.config(labels[-1]) if labels else study.best
        return config

    def _look(self) -> None:
        self.bench.start(space_action(self.choice))

    def _start(self) -> None:
        choice = self.choice
        if self.checks and len(choice.left_out) == len(self.checks):
            raise WorkbenchError("Nothing may vary.", "Check at least one setting.")
        self.bench.start(tune_action(choice, self.state.space))

    def _copy(self) -> None:
        self.bench.page.copy(tune_code(self.bench.request(), self.choice), self.status)

    def _use(self, label: str) -> Any:
        def use() -> None:
            self.state.change(**{label.lower(): self.picked})
            self.status.value = note_html(f"{label} is set. Press Compare to measure it.")

        return use

    def _offer(self) -> None:
        """Show a check box for each axis of the space."""
        space = self.state.space
        axes = () if space is None else space.axes
        self.checks = {
            axis.name: W.Checkbox(True, description=f"{axis.name} ({len(axis.options)})", indent=False)
            for axis in axes
        }
        for check in self.checks.values():
            check.observe(lambda _: self._count(), names="value")
        self.axes.children = tuple(self.checks.values())
        self._count()

    def _count(self) -> None:
        space = self.state.space
        if space is None:
            self.size.value = ""
            return
        rest = space.without(*(name for name, check in self.checks.items() if not check.value))
        changes, seconds = len(rest.moves), self.budget.value
        self.size.value = text(
            f"{counted(changes, 'change')}, {counted(len(rest), 'combination')}, at most {seconds:.0f} s"
        )

    def _new_model(self, _: object) -> None:
        with self.state.hold_trait_notifications():
            self.state.space = self.state.study = None

    def _enable(self) -> None:
        for name in ("What may vary", "Start"):
            self.buttons[name].disabled = self.state.job is not None
        under_load = "throughput" in (self.objective.value, self.second.value)
        self.callers.layout.display = "" if under_load else "none"


def stopping_in_words(record: StudyRecord) -> str:
    """Return what a stop now would keep and lose."""
    rounds = max((candidate.rounds for candidate in record.candidates), default=0)
    lost = "only the running round is lost"
    leader = max(record.candidates, key=lambda candidate: candidate.ratio or 1.0)
    if leader.ratio is None or leader.ratio <= 1:
        return f"Running. A stop now keeps {counted(rounds, 'round')} in the history; {lost}."
    return (
        f"Running; {leader.label} leads with {leader.ratio:.2f}×, not confirmed yet. A stop now keeps "
        f"{counted(rounds, 'round')} in the history; {lost}, and the proof on fresh rounds is missing."
    )


def _number(field: W.Text) -> float | None:
    """Return the number in a field; None of an empty one."""
    if not field.value.strip():
        return None
    try:
        return float(field.value)
    except ValueError:
        raise WorkbenchError(
            f"{field.description}: {field.value[:40]!r} is no number.", f"Write one, {field.placeholder}."
        ) from None
