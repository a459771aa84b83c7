"""The workbench without its widgets: the state, and what can be done, each one call of the public API."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import workbench as wb
from workbench.apps.panels import code
from workbench.apps.panels.actions import COMPARE, Action, action_of, more_action
from workbench.apps.panels.fixes import fix_action
from workbench.apps.panels.jobs import Failed, Job, Jobs, wait_for
from workbench.apps.panels.recent import open_model, recent, with_recent
from workbench.apps.panels.reopening import look_for_model
from workbench.apps.panels.request import InputsPreview, Request
from workbench.apps.panels.state import BenchState
from workbench.apps.panels.task_thread import TaskThread, import_shared
from workbench.core.config import Config
from workbench.core.errors import WorkbenchError
from workbench.core.models.recorded import is_file_of

if TYPE_CHECKING:
    from workbench.apps.panels.notebook_cells import NotebookPage


def config_property(label: str, doc: str) -> Any:
    """Return the property that holds the config with a label."""
    return property(
        lambda bench: bench.state.configs[label],
        lambda bench, config: bench.state.set_config(label, config),
        doc=doc,
    )


class Bench:
    """Holds the state, turns knobs, and runs jobs; `wait=True` works where no callback ever fires."""

    def __init__(self) -> None:
        self.state = BenchState(recent=recent())
        self.ui = TaskThread("ui", partial(setattr, self.state, "bug"))  # sets the traits that jobs change
        self.background = TaskThread("background", partial(setattr, self.state, "bug"))  # draws, makes inputs
        self.jobs = Jobs(self.ui, partial(setattr, self.state, "job"))
        self.opening = Jobs(self.ui, partial(setattr, self.state, "opening"))
        self.finding = Jobs(self.ui, partial(setattr, self.state, "opening"))  # not in the way of a load
        self._diagnosing = Jobs(self.ui, lambda _: None)
        self._previews = 0
        self.state.observe(self._forget_refused, names=["configs", "editing"])

    @cached_property
    def page(self) -> NotebookPage:
        """The page that shows the panels: cells, downloads, the clipboard."""
        from workbench.apps.panels.notebook_cells import NotebookPage  # loads slowly; scripts need none

        return NotebookPage(self.ui, self.in_background)

    # Configs

    a = config_property("A", "The baseline.")
    b = config_property("B", "The candidate.")

    @property
    def result(self) -> Any:
        """The comparison that the results show; None before there is one."""
        return self.state.result

    def set(self, field: str, value: Any) -> None:
        """Change one field of the config that the panels show."""
        self.turn(self.state.editing, field, lambda config: config.replace(**{field: value}))

    def turn(self, label: str, name: str, changed: Callable[[Config], Config], typed: str = "") -> None:
        """Change the config with a label; `name` says what of it is changed, `typed` by which text.

        A value that the config refuses is remembered until it is fixed, so that nothing else is run instead.
        """
        state = self.state
        try:
            config = changed(state.configs[label])
        except WorkbenchError as error:
            state.refused = {**state.refused, (label, name): (error, typed)}
            raise
        state.refused = {}
        state.set_config(label, config)

    def _forget_refused(self, _: Any) -> None:
        self.state.refused = {}  # every panel now shows what the configs hold

    # The model, the machine, the inputs

    def load(self, source: Any, *, wait: bool = False) -> None:
        """Open anything that `wb.load` takes; if it fails, the model before stays."""
        state = self.state

        def opened(model: Any) -> None:
            shown, before = state.result, state.model
            with state.hold_trait_notifications():
                state.model_error = None
                again = shown is not None and before is not None and before.path == model.path
                if not (again and is_file_of(shown.record, model)):  # else the answer is about this very file
                    state.source, state.model, state.run_error = source, model, None
                state.recent = with_recent(state.recent, source)
            self.background.post(import_shared)  # behind what the panels ask for: a run is likely to follow

        failed = partial(setattr, state, "model_error")
        self.opening.start("opening", partial(open_model, source), opened, failed, wait=wait)

    def look_at_machine(self) -> None:
        """Run the doctor once; ignore further calls while it runs."""
        if self._diagnosing.running is None:
            done, failed = (partial(setattr, self.state, name) for name in ("doctor", "run_error"))
            self._diagnosing.start("Doctor", lambda _: wb.doctor(), done, failed)

    def preview_inputs(self) -> None:
        """Make the inputs in the background, for what the panels say of them; the newest request counts."""
        self._previews += 1
        number, state = self._previews, self.state
        if state.model is None:
            state.preview = None
            return
        subject = state.request().subject

        def work() -> InputsPreview | None:
            if number != self._previews:
                return None
            inputs = subject.inputs()
            return InputsPreview(inputs.shapes, inputs.guesses, made_by=inputs.made_by)

        show = partial(setattr, state, "preview")
        self.in_background(work, show, lambda error: show(InputsPreview(error=error)), light=True)

    # Running

    def run(self, kind: str, *, wait: bool = False) -> None:
        """Make results of this kind for the panels as they are; a failure leaves the older results.

        A view makes what is quick without being asked; a click on its button then finds it running.
        """
        action, running = action_of(kind), self.jobs.running
        if running is None or running.name != action.name or running.cancel.is_set():
            self.start(action, wait=wait)
        elif wait:
            wait_for(running)

    def compare(self, *, wait: bool = False) -> None:
        """Measure all configs side by side."""
        self.start(COMPARE, wait=wait)

    def measure_more(self, *, wait: bool = False) -> None:
        """Measure further rounds of the comparison on the screen."""
        result = self.state.result
        if result is None:
            raise WorkbenchError("There is no comparison to measure longer.", "Press Compare first.")
        self.start(more_action(result, self.code("result"), reopened=not self.state.answer.code), wait=wait)

    def try_fix(self, label: str, finding: Any, *, wait: bool = False) -> None:
        """Measure the fix of a finding of A or B, given as its record, against the config of that finding."""
        self.start(fix_action(self.state, label, finding), wait=wait)

    def request(self) -> Request:
        """Return a snapshot of the panels, or raise an error that says why nothing can run."""
        if self.state.refused:
            label, _ = next(iter(self.state.refused))
            raise WorkbenchError(
                f"{label} has a value on the screen that was refused, so it is not what would run.",
                "Correct it where it is marked, or press undo.",
            )
        if self.state.model is None:
            raise WorkbenchError("No model is open.", "Pick a sample or open a file first.")
        return self.state.request()

    def cancel(self) -> bool:
        """Ask the running job to end; return whether there was one."""
        return self.jobs.cancel()

    def show(self, result: Any, *, wait: bool = False) -> None:
        """Show a comparison from the history or a bundle; set its configs, and its model if that is here."""
        self.state.show_comparison(result)
        look_for_model(self.state, self.finding, wait=wait)

    def start(self, action: Action, *, wait: bool = False) -> None:
        """Run an action for the panels as they are; a failure leaves the older results."""
        state, request = self.state, self.request()
        if action.check is not None:
            action.check(request)

        def work(job: Job) -> tuple[Any, Job]:
            self.ui.post(lambda: setattr(state, "run_error", None))  # queued before the error of this job
            import_shared()
            return action.run(request, job), job

        def done(made: tuple[Any, Job]) -> None:
            value, job = made
            if not job.cancel.is_set():  # else it ended early
                name = action.name, request.subject.model.path
                state.took_s = {**state.took_s, name: time.monotonic() - job.began}
            action.store(state, request, value)

        failed = partial(setattr, state, "run_error")
        self.jobs.start(action.name, work, done, failed, wait=wait)

    def in_background(
        self, work: Callable[[], Any], done: Callable[[Any], None], failed: Failed, *, light: bool = False
    ) -> None:
        """Run slow work; in the UI thread, `done` then gets its value, or `failed` its error.

        None means that there is nothing to show. An error that is our own bug is reported as one, too.
        `light` work needs none of the shared modules, whose import would slow down a fresh page.
        """

        def task() -> None:
            try:
                if not light:
                    import_shared()
                value = work()
            except Exception as error:
                self.ui.post(partial(failed, error))
                if not isinstance(error, WorkbenchError):
                    raise
            else:
                if value is not None:
                    self.ui.post(partial(done, value))

        self.background.post(task)

    # Code

    def code(self, kind: str) -> str:
        """Return the code of the `result`, of the `panels` as they are, or the plain script of `A` or `B`."""
        state = self.state
        if kind in state.configs:
            return code.script(state.request(), kind, state.preview)
        if kind == "result" and state.result is not None:
            return state.answer.code or code.opening_code(state.result)
        return code.compare_code(state.request())

    def card_code(self, expression: str, part: str = "") -> str:
        """Return code that ends in an expression about the result, or about a part, made anew where alone."""
        if expression.startswith("wb."):  # opens what is kept
            return f"import workbench as wb\n\n{expression}"
        state, result = self.state, self.state.result
        is_kept = result is not None and (not part or not result.source or part in result.parts_of_source)
        if is_kept and part not in state.parts:
            return code.reopening_code(result, expression)
        return code.part_of_new_code(state.request_made(), part, expression)
