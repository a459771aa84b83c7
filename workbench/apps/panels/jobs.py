"""One job at a time in a thread of its own: started, watched, cancelled, waited for."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from workbench.apps.panels.task_thread import TaskThread
from workbench.core.errors import Cancelled, WorkbenchError
from workbench.core.measure.limits import Progress

Failed = Callable[[Exception], None]
Done = Callable[[Any], None]


@dataclass(frozen=True, slots=True)
class JobView:
    """The state of a running job, as the panels show it."""

    name: str
    doing: str
    elapsed_s: float
    progress: Progress | None = None  # None while the end of the step is not known
    cancelling: bool = False


@dataclass(eq=False, slots=True)
class Job:
    """A running job; its methods may be called from any thread."""

    name: str
    cancel: threading.Event = field(default_factory=threading.Event)
    finished: threading.Event = field(default_factory=threading.Event)
    began: float = field(default_factory=time.monotonic)
    doing: str = "starting"
    progress: Progress | None = None
    error: Exception | None = None

    def tell(self, progress: Progress) -> None:
        """Keep the newest progress; the UI thread shows it at its own pace."""
        self.progress = progress

    def step(self, doing: str) -> None:
        """Name the present step, whose end is not known."""
        self.doing, self.progress = doing, None

    def check(self) -> None:
        """Raise Cancelled between two steps if a person asked for it."""
        if self.cancel.is_set():
            raise Cancelled(f"{self.name} was cancelled.", "Run it again when you want it.")

    def view(self) -> JobView:
        """Return the state of the job now."""
        progress, doing, elapsed_s = self.progress, self.doing, time.monotonic() - self.began
        if progress is not None:
            doing = f"round {progress.round}: {progress.doing}" if progress.round else progress.doing
        return JobView(self.name, doing, elapsed_s, progress, self.cancel.is_set())


class Jobs:
    """Starts one job at a time, and shows its state and its result in the UI thread."""

    def __init__(self, ui: TaskThread, show: Callable[[JobView | None], None]) -> None:
        self._ui = ui
        self._show = show
        self._lock = threading.Lock()
        self.running: Job | None = None

    def start(
        self, name: str, work: Callable[[Job], Any], done: Done, failed: Failed, *, wait: bool = False
    ) -> None:
        """Start `work`; in the UI thread, `done` then gets its value, or `failed` its error."""
        job = Job(name)
        with self._lock:
            if self.running is not None:
                raise WorkbenchError(f"{self.running.name} is still running.", "Wait for it, or cancel it.")
            self.running = job
        self._show(job.view())
        arguments = (job, work, done, failed)
        threading.Thread(target=self.run, args=arguments, name=f"workbench {name}", daemon=True).start()
        if wait:
            wait_for(job)

    def cancel(self) -> bool:
        """Ask the running job to end; return whether there was one."""
        job = self.running
        if job is None:
            return False
        job.cancel.set()
        self._ui.post(lambda: self._show(job.view()) if self.running is job else None)
        return True

    def run(self, job: Job, work: Callable[[Job], Any], done: Done, failed: Failed) -> None:
        unwatch = self._ui.watch(lambda: self._show(job.view()))
        try:
            value, report = work(job), done
        except Exception as error:  # noqa: BLE001 - whatever it is, it is shown
            job.error = error
            value, report = error, failed
        self._ui.post(lambda: self._end(job, unwatch, lambda: report(value)))

    def _end(self, job: Job, unwatch: Callable[[], None], report: Callable[[], None]) -> None:
        unwatch()
        self.running = None
        try:
            self._show(None)
            report()
        finally:
            job.finished.set()


def wait_for(job: Job) -> None:
    """Wait until a job has ended and is shown, and raise its error; Ctrl-C cancels the job first."""
    try:
        while not job.finished.wait(0.2):  # a wait without a timeout would not hear Ctrl-C on Windows
            pass
    except KeyboardInterrupt:
        job.cancel.set()
        job.finished.wait()
        raise
    if job.error is not None:
        raise job.error
