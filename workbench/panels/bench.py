"""The workbench without its widgets: the state and what can be done, each one call of the public API."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import workbench as wb
from workbench.config.literals import text_literal
from workbench.errors import WorkbenchError
from workbench.panels import code, running, running_precision
from workbench.panels.core import Core
from workbench.panels.jobs import Job
from workbench.panels.recent import with_recent


class Bench(Core):
    """Starts jobs and keeps what they find in `state`; with `wait=True` also where no callback ever fires."""

    # Looking

    def load(self, source: Any, *, wait: bool = False) -> None:
        """Open what `wb.load` takes; the one before stays where this fails."""
        state = self.state

        def opened(model: Any) -> None:
            with state.hold_trait_notifications():
                state.model_error, state.source, state.model = None, source, model
                state.recent = with_recent(state.recent, source)

        def failed(error: Exception) -> None:
            state.model_error = error

        job = self._opening.start("opening", lambda job: running.open_model(source, job), opened, failed)
        self._waited(job, wait, lambda: state.model_error)

    def look_at_machine(self, *, wait: bool = False) -> None:
        """Ask the doctor what works here; nothing happens while he is being asked already."""

        def found(doctor: Any) -> None:
            self.state.doctor = doctor

        def failed(error: Exception) -> None:
            self.state.run_error = error

        if self._looking.running is None:
            job = self._looking.start("Looking at this machine", lambda _: wb.doctor(), found, failed)
            self._waited(job, wait, lambda: None)

    def preview(self, then: Callable[[Any, Exception | None], None]) -> None:
        """Make the inputs aside and tell what they are; only the newest question is answered."""
        self._previews += 1
        number, model = self._previews, self.state.model
        if model is None:
            return
        feeds = running.feeds(self.state, model)

        def make() -> None:
            if number != self._previews:
                return
            try:
                made, error = feeds(), None
            except WorkbenchError as told:
                made, error = None, told
            self.painter.post(lambda: then(made, error))

        self.drawer.post(make)

    # Running

    def compare(self, *, wait: bool = False) -> None:
        """Measure A and B side by side."""
        state, subject = self.state, self._subject()
        work, told = running.compare(state, subject), self.code("panels")

        def done(result: Any) -> None:
            with state.hold_trait_notifications():
                state.run_error = None
                state.parts, state.parts_apart = {}, False
                state.subject = state.result_subject = subject
                state.result_code, state.result = told, result

        self._run("Compare", work, done, wait)

    def explain(self, *, wait: bool = False) -> None:
        """What ORT makes of the model under A and under B."""
        self._run_parts("Explain", partial(running.examine, what="explanation"), wait)

    def profile(self, *, wait: bool = False) -> None:
        """Where the time goes under A and under B, with ORT's profiler on."""
        self._run_parts("Profile", partial(running.examine, what="profile"), wait)

    def ablate(self, *, wait: bool = False) -> None:
        """What each pass is worth under the config that is shown."""
        self._run_parts("Ablate", running.ablate, wait)

    def levels(self, *, wait: bool = False) -> None:
        """ORT's levels side by side, the rest as in the config that is shown."""
        self._run_parts("Level by level", running.levels, wait)

    def accuracy(self, *, wait: bool = False) -> None:
        """How right A and B are, and how far B's outputs are from A's."""
        self._run_parts("Accuracy", running_precision.accuracy, wait)

    def why_slower(self, *, wait: bool = False) -> None:
        """What costs B its time, of the comparison that is shown."""
        self._run_parts("Why slower", running_precision.why_slower, wait)

    def layer_errors(self, *, wait: bool = False) -> None:
        """The error of every layer of each config that has a precision."""
        self._run_parts("Layer errors", running_precision.layer_errors, wait)

    def sensitivity(self, *, wait: bool = False) -> None:
        """Each layer quantized alone, for the config that is shown."""
        self._run_parts("Sensitivity", running_precision.sensitivity, wait)

    def cold_start(self, *, wait: bool = False) -> None:
        """A and B from no process to a steady one."""
        self._run_parts("Cold start", partial(running.examine, what="cold start"), wait)

    def roofline(self, *, wait: bool = False) -> None:
        """Each node's time against what this machine could do."""
        self._run_parts("Roofline", partial(running.examine, what="roofline"), wait)

    def memory(self, *, wait: bool = False) -> None:
        """What is held and alive at each node, under A and under B."""
        self._run_parts("Memory by node", partial(running.examine, what="memory"), wait)

    def threads(self, *, wait: bool = False) -> None:
        """Latency against the number of threads, for the config that is shown."""
        self._run_parts("Threads", running.threads, wait)

    def memory_settings(self, *, wait: bool = False) -> None:
        """What pattern, arena and prepacking cost and save, for the config that is shown."""
        self._run_parts("Memory settings", running.memory_settings, wait)

    def export(
        self, path: Path, done: Callable[[Path, bytes], None], failed: Callable[[Exception], None], *,
        wait: bool = False,
    ) -> None:  # fmt: skip
        """Write the comparison that is shown as one HTML file; `done` gets where, and what stands in it."""
        result, told = self.state.result, list[Exception]()
        if result is None:
            raise WorkbenchError("There is no comparison to export yet.", "Press Compare first.")

        def work(job: Job) -> tuple[Path, bytes]:
            job.step("drawing every figure and view into one page")
            return running.export(result, path, job)

        def refused(error: Exception) -> None:
            told.append(error)
            failed(error)

        job = self.jobs.start("Export HTML", work, lambda found: done(*found), refused)
        self._waited(job, wait, lambda: next(iter(told), None))

    def cancel(self) -> bool:
        """End what runs; whether anything did."""
        return self.jobs.cancel()

    def show(self, result: Any) -> None:
        """Put a comparison from elsewhere into the results: from the history, from a bundle."""
        state = self.state
        with state.hold_trait_notifications():
            state.run_error, state.parts, state.parts_apart = None, {}, False
            state.subject = state.result_subject = None
            state.result_code, state.result = "", result

    # Code

    def code(self, kind: str) -> str:
        """The code of the `result`, of the `panels` as they are, or plain ORT code of `A` or `B`."""
        state = self.state
        if kind in ("A", "B"):
            path = state.model.path if state.model else "model.onnx"
            return state.config(kind).to_python(path)
        if kind == "result" and state.result is not None:
            return state.result_code or running.opening_code(state.result)
        return self._question(running.subject_of(state))

    def reopening(self, expression: str, of: str = "") -> str:
        """Code that opens the result from the history and ends in an expression about it.

        `of` names the part that it is about; one that no comparison holds is made again by the code.
        """
        state = self.state
        if state.result is not None and of not in state.parts:
            opened = f"result = wb.history().open({text_literal(state.result.record.id)})"
            return f"import workbench as wb\n\n{opened}\n{expression}"
        return code.making_code(self._question(state.subject or running.subject_of(state)), of, expression)

    def _question(self, subject: running.Subject) -> str:
        """The code that compares a subject."""
        state = self.state
        dims, seed, given, _ = subject.inputs
        source = state.source if subject.model is state.model and state.source is not None else subject.model
        return code.question_code(
            source, subject.a, subject.b, dims=dict(dims), seed=seed, given=given,
            asked=running.asked(state, with_seed=False),
        )  # fmt: skip
