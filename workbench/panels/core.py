"""What the bench stands on: the state, the threads that change it, one job at a time, the page."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any

from workbench.config import Config
from workbench.errors import WorkbenchError
from workbench.panels import running
from workbench.panels.jobs import Job, Jobs, wait_for
from workbench.panels.markup import error_html
from workbench.panels.recent import recent
from workbench.panels.state import BenchState
from workbench.panels.task_thread import Line

if TYPE_CHECKING:
    from workbench.panels.notebook_cells import NotebookPage

# Imported before the threads do: two that import one of these at once may be given a half-made module.
SHARED_BY_THREADS = ("pandas", "plotly.graph_objects", "scipy.stats")


class Core:
    """Turns knobs and runs jobs; which ones is told in `bench`."""

    def __init__(self) -> None:
        for name in SHARED_BY_THREADS:
            import_module(name)
        self.state = BenchState(recent=recent())
        self.painter = Line("painter", self._on_trouble)  # sets what jobs change
        self.drawer = Line("drawer", self._on_trouble)  # makes figures and inputs, which takes a while
        self.jobs = Jobs(self.painter, lambda view: setattr(self.state, "job", view))
        self._opening = Jobs(self.painter, lambda view: setattr(self.state, "opening", view))
        self._looking = Jobs(self.painter, lambda _: None)
        self._previews = 0
        self._linking = threading.Lock()
        self.state.observe(self._forget_refused, names=["a", "b", "editing"])

    @cached_property
    def page(self) -> NotebookPage:
        """What can be asked of the page that shows the panels."""
        from workbench.panels.notebook_cells import (
            NotebookPage,  # ipywidgets takes its time, and scripts need none
        )

        return NotebookPage(self.painter)

    def aside(self, status: Any, act: Callable[[], str | None]) -> None:
        """What takes longer than a click may: in the drawer's thread; `status` then says what it returns."""

        def run() -> None:
            try:
                told = act()
            except WorkbenchError as error:
                told = error_html(error)
            if told is not None:
                self.painter.post(lambda: setattr(status, "value", told))

        self.drawer.post(run)

    # Turning knobs

    @property
    def a(self) -> Config:
        """The baseline."""
        return self.state.a

    @a.setter
    def a(self, config: Config) -> None:
        self.state.change(a=config)

    @property
    def b(self) -> Config:
        """The candidate."""
        return self.state.b

    @b.setter
    def b(self, config: Config) -> None:
        self.state.change(b=config)

    @property
    def result(self) -> Any:
        """The comparison that the results show; None before there is one."""
        return self.state.result

    def set(self, field: str, value: Any) -> None:
        """Change one field of the config that is shown. A callable makes the value.

        What the config refuses is remembered until it is mended, so that nothing else is run instead.
        """
        state = self.state
        try:
            made = value() if callable(value) else value
            config = state.config(state.editing).replace(**{field: made})
        except WorkbenchError as error:
            state.refused = {**state.refused, (state.editing, field): error}
            raise
        state.refused = {}
        state.set_config(state.editing, config)

    def _forget_refused(self, _: Any) -> None:
        self.state.refused = {}  # every panel now shows what the configs hold

    # Linked selection

    def link_selection(self, widget: Any, trait: str) -> None:
        """What is marked in one view is marked in all."""

        def told(change: Any) -> None:
            names = tuple(change["new"])
            if names != self.state.selected:
                self.state.selected = names

        def show(_: Any = None) -> None:
            names = list(self.state.selected)
            if list(getattr(widget, trait)) != names:
                setattr(widget, trait, names)

        show()
        widget.observe(told, names=trait)
        self.state.observe(show, names="selected")

    # What all runs need

    def _run_parts(self, name: str, make: running.Make, wait: bool) -> None:
        """Run something more about the panels as they are: their comparison keeps it, where there is one."""
        state, subject = self.state, self._subject()
        work, result = make(state, subject), running.compared(state, subject)

        def whole(job: Job) -> dict[str, Any]:
            found: dict[str, Any] = work(job)
            job.check()
            if result is not None:
                running.add_parts(result, found)
            return found

        def done(found: dict[str, Any]) -> None:
            with state.hold_trait_notifications():
                state.run_error = None
                before = state.parts if state.subject == subject else {}
                state.subject = subject
                state.parts = {} if result is not None and state.result is result else {**before, **found}
                state.parts_apart = bool(state.parts) and state.result is not None
                state.parts_made += 1

        self._run(name, whole, done, wait)

    def _run(self, name: str, work: Callable[[Job], Any], done: Callable[[Any], None], wait: bool) -> None:
        """Start it; a failure is shown and leaves the results that are there."""

        def failed(error: Exception) -> None:
            self.state.run_error = error

        def begun(job: Job) -> Any:
            self.painter.post(lambda: setattr(self.state, "run_error", None))  # so before its own error comes
            return work(job)

        job = self.jobs.start(name, begun, done, failed)
        self._waited(job, wait, lambda: self.state.run_error)

    def _subject(self) -> running.Subject:
        """The model and the two configs that would run now."""
        state = self.state
        if state.refused:
            label, _ = next(iter(state.refused))
            raise WorkbenchError(
                f"{label} has a value on the screen that was refused, so it is not what would run.",
                "Correct it where it is marked, or press undo.",
            )
        if state.model is None:
            raise WorkbenchError("No model is open.", "Pick a sample or open a file first.")
        return running.subject_of(state)

    def _waited(self, job: Job, wait: bool, error: Callable[[], Any]) -> None:
        if wait:
            wait_for(job)
            if (found := error()) is not None:
                raise found

    def _on_trouble(self, report: str) -> None:
        self.state.trouble = report
