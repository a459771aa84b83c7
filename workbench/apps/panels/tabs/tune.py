"""The tune tab: the goal, the limits, what may vary, and the best config that was found and proven."""

from __future__ import annotations

from functools import partial

from workbench.apps.panels import widgets as W
from workbench.apps.panels.bench import Bench
from workbench.apps.panels.handlers import button, buttons_of, follow, shown_in
from workbench.apps.panels.markup import note_html, text
from workbench.apps.panels.table import TableWidget
from workbench.apps.panels.tabs.figure import titled_figure
from workbench.apps.panels.tabs.tune_fields import GoalFields
from workbench.apps.panels.tuning import TuneChoice, looked_for, space_action, tune_action, tune_code
from workbench.core.bundle.display import config_in_words
from workbench.core.config import Config
from workbench.core.errors import WorkbenchError
from workbench.core.text import counted, factor
from workbench.drawing.words import plain
from workbench.features.tune.record import StudyRecord
from workbench.features.tune.result import Study

_EMPTY = (
    "Tune searches the best config for a goal, starting from A: every change alone, the good ones together, "
    "each once more on the leader. The winner is then measured against A on fresh rounds. int8 takes part "
    "only with a limit on accuracy or error. Cancel keeps every finished round in the history."
)
_COLUMNS = [
    "label",
    "config",
    "ratio",
    "low",
    "high",
    "rounds",
    "peak_rss_bytes",
    "load_s",
    "state",
    "reason",
]


class TunePage:
    """The choices above, the answer with its figure and its table below."""

    def __init__(self, bench: Bench) -> None:
        self.bench, self.state = bench, bench.state
        self.goal = GoalFields()
        self.status, self.size, self.axes, self.answer = W.HTML(), W.HTML(), W.VBox([]), W.VBox([])
        self.buttons = buttons_of(
            self.status,
            ("What may vary", "Find what may pay for this model here", self._look),
            ("Start", "Search the best config, starting from A", self._start),
            ("Copy as Python", "The code that does the same", self._copy),
            ("More limits", "Limits of time and size", self._unfold),
        )
        row = W.HBox([*self.buttons.values(), self.size], classes="wbp-tools")
        self.fold = W.VBox([self.goal.further])
        W.set_shown(self.fold, False)
        self.checks: dict[str, W.Checkbox] = {}
        self.table: TableWidget | None = None
        self.shown: Study | None = None  # the study whose rows and figure are in the page
        self.is_visible = False
        self._partial: Study | None = None  # of the running search
        self._picked_of = ""  # id of the study whose rows the table has
        self.widget = W.VBox([self.goal.first, row, self.fold, self.status, self.axes, self.answer])
        follow(self.state, self._offer, "space")
        follow(self.state, self._count, "a", "dims", "seed", "data", "calibration", "pacing_s")
        self.goal.observe(lambda _: self._count())
        self.state.observe(self._new_model, names="model")
        follow(self.state, self._watch, "job")
        self.state.observe(lambda _: self._draw(self.state.study), names="study")
        bench.page.bridge.on_pick = self._pick

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
        so_far = self._partial if job is None else job.partial
        if not isinstance(so_far, Study):
            return
        if job is None:
            self._partial = self.shown = None
            self.state.study = so_far
        elif so_far is not self._partial:
            self._partial = so_far
            if self.is_visible:
                self._draw(so_far)

    def _draw(self, study: Study | None) -> None:
        if study is None:
            self.answer.children = [W.HTML(f'<div class="wbp-empty">{text(_EMPTY)}</div>')]
        elif study is not self.shown or not self.answer.children:
            self.table = self._candidates(study)
            is_running = self.state.study is not study
            state = W.HTML(note_html(stopping_in_words(study.record)) if is_running else "")
            figure = study.figure()
            figure.update_layout(clickmode="event+select")  # a point that is clicked stands out
            title, drawn = titled_figure(figure, study.record.headline)
            heading = W.HTML(title, classes="wbp-heading")
            self.answer.children = [state, heading, drawn, self._uses(study), self.table]
        self.shown = study

    def _candidates(self, study: Study) -> TableWidget:
        """Return the table of the candidates; rows that were picked stay picked."""
        picked = self.table.picked if self.table is not None and self._picked_of == study.record.id else []
        self._picked_of = study.record.id
        frame = study.to_frame()
        table = TableWidget.of_frame(frame[_COLUMNS], "Pick one to use it.", "label")
        table.action, table.on_act = "Use as B", self._use_row
        table.picked = [label for label in picked if label in set(frame["label"])]
        return table

    def _uses(self, study: Study) -> W.HBox:
        """Return the buttons that take the picked config, beside its name."""
        uses = [
            button(f"Use as {label}", f"Put it into {label}", partial(self._use, label), self.status)
            for label in "AB"
        ]
        name = W.HTML(classes="wbp-sentence")

        def show() -> None:
            label = self._picked_label(study)
            config = config_in_words(study.config(label))
            name.value = text(f"{label}: {config}. A click on a point or a row picks another.")

        follow(self.table, show, "picked")
        return W.HBox([*uses, name], classes="wbp-tools")

    def _pick(self, point: str) -> None:
        """Pick the row of a point that was clicked in the figure."""
        with shown_in(self.status):
            if self.table is not None and self.shown is not None and self.is_visible:
                labels = [candidate.label for candidate in self.shown.record.candidates]
                self.table.picked = [label for label in labels if plain(label) == point]

    def _use_row(self, label: str) -> None:
        study = self.shown
        if study is not None:
            self.state.change(b=study.config(label))
            self.status.value = note_html(f"B is {label}. Press Compare to measure it.")

    @property
    def choice(self) -> TuneChoice:
        """What the widgets ask for."""
        goal = self.goal
        return TuneChoice(
            goal.objective.value, goal.goal, goal.budget.value, self.left_out, goal.second_objective,
            goal.callers.value,
        )  # fmt: skip

    @property
    def left_out(self) -> tuple[str, ...]:
        """The names of the axes without a check."""
        return tuple(name for name, check in self.checks.items() if not check.value)

    @property
    def picked(self) -> Config:
        """The config of the picked row, by default the best one."""
        study = self.shown
        if study is None:
            raise WorkbenchError("There is no study yet.", "Press Start.")
        return study.config(self._picked_label(study))

    def _picked_label(self, study: Study) -> str:
        """Return the label of the picked row, by default of the best config."""
        picked = [] if self.table is None else self.table.picked
        return picked[-1] if picked else study.record.best

    def _unfold(self) -> None:
        """Show the further limits, or hide them again."""
        W.set_shown(self.fold, self.fold.layout.display == "none")

    def _look(self) -> None:
        self.bench.start(space_action(self.choice))

    def _start(self) -> None:
        choice = self.choice
        if self.checks and len(choice.left_out) == len(self.checks):
            raise WorkbenchError("Nothing may vary.", "Check at least one setting.")
        self.bench.start(tune_action(choice, None if self._is_stale() else self.state.space))

    def _copy(self) -> None:
        if self.left_out and self._is_stale():
            raise WorkbenchError(
                "What may vary was found for another goal, config or inputs.",
                "Press What may vary, or Start, which look again.",
            )
        self.bench.page.copy(tune_code(self.bench.request(), self.choice), self.status)

    def _is_stale(self) -> bool:
        """Return whether the space that is offered was looked for something else than what is asked now."""
        sought = self.state.space_for
        return sought is not None and sought != looked_for(self.choice, self.bench.request())

    def _use(self, label: str) -> None:
        self.state.set_config(label, self.picked)
        self.status.value = note_html(f"{label} is set. Press Compare to measure it.")

    def _offer(self) -> None:
        """Show a check box for each axis of the space; what was left out stays so."""
        space, left_out = self.state.space, self.left_out
        axes = () if space is None else space.axes
        self.checks = {
            axis.name: W.Checkbox(
                axis.name not in left_out, description=f"{axis.name} ({len(axis.options)})", indent=False
            )
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
        try:
            if self._is_stale():
                self.size.value = text("found for another goal, config or inputs; Start looks again")
                return
        except WorkbenchError:  # a field is being typed; Start says what is wrong
            return
        rest = space.without(*self.left_out)
        changes, seconds = len(rest.moves), self.goal.budget.value
        self.size.value = text(
            f"{counted(changes, 'change')}, {counted(len(rest), 'combination')}, at most {seconds:.0f} s"
        )

    def _new_model(self, _: object) -> None:
        with self.state.hold_trait_notifications():
            self.state.space = self.state.space_for = self.state.study = None

    def _enable(self) -> None:
        for pressed in (self.buttons["What may vary"], self.buttons["Start"]):
            pressed.disabled = self.state.job is not None


def stopping_in_words(record: StudyRecord) -> str:
    """Return what a stop now would keep and lose."""
    rounds = max((candidate.rounds for candidate in record.candidates), default=0)
    lost = "only the running round is lost"
    leader = max(record.candidates, key=lambda candidate: candidate.ratio or 1.0)
    if leader.ratio is None or leader.ratio <= 1:
        return f"Running. A stop now keeps {counted(rounds, 'round')} in the history; {lost}."
    lead = factor(leader.ratio, leader.low, leader.high)
    return (
        f"Running; {leader.label} leads with {lead}, not confirmed yet. A stop now keeps "
        f"{counted(rounds, 'round')} in the history; {lost}, and the proof on fresh rounds is missing."
    )
