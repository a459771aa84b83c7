"""One job at a time in a thread of its own: started, watched, cancelled, waited for."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from workbench.errors import Cancelled, WorkbenchError
from workbench.measure.limits import Progress
from workbench.panels.task_thread import Line


@dataclass(frozen=True, slots=True)
class JobView:
    """What a running job looks like from outside; None is what nobody knows."""

    name: str
    doing: str
    elapsed_s: float
    fraction: float | None = None
    remaining_s: float | None = None
    so_far: float | None = None  # the ratio of the first candidate, provisional
    cancelling: bool = False


@dataclass(eq=False, slots=True)
class Job:
    """A job on its way; `cancel` ends it, `tell` takes what it says, from whatever thread."""

    name: str
    cancel: threading.Event = field(default_factory=threading.Event)
    finished: threading.Event = field(default_factory=threading.Event)
    began: float = field(default_factory=time.monotonic)
    doing: str = "starting"
    progress: Progress | None = None

    def tell(self, progress: Progress) -> None:
        """Keep the newest; it is shown at the painter's pace."""
        self.progress = progress

    def step(self, doing: str) -> None:
        """What is happening now, where nothing more is known."""
        self.doing, self.progress = doing, None

    def check(self) -> None:
        """Between two steps: end here if a person asked for it."""
        if self.cancel.is_set():
            raise Cancelled(f"{self.name} was cancelled.", "Run it again when you want it.")

    def view(self) -> JobView:
        """What there is to show of it now."""
        told, elapsed_s = self.progress, time.monotonic() - self.began
        if told is None:
            return JobView(self.name, self.doing, elapsed_s, cancelling=self.cancel.is_set())
        first = next((one for one in told.verdicts if one.kind != "outputs differ"), None)
        return JobView(
            self.name,
            f"round {told.round}: {told.doing}" if told.round else told.doing,
            elapsed_s,
            told.fraction,
            told.remaining_s,
            first.ratio if first else None,
            self.cancel.is_set(),
        )


class Jobs:
    """Starts one job at a time; everything that shows goes through the painter."""

    def __init__(self, painter: Line, show: Callable[[JobView | None], None]) -> None:
        self._painter = painter
        self._show = show
        self._lock = threading.Lock()
        self.running: Job | None = None

    def start(
        self,
        name: str,
        work: Callable[[Job], Any],
        then: Callable[[Any], None],
        failed: Callable[[Exception], None],
    ) -> Job:
        """Begin `work`; `then` gets its value, or `failed` its error, in the painter's thread."""
        job = Job(name)
        with self._lock:
            if self.running is not None:
                raise WorkbenchError(f"{self.running.name} is still running.", "Wait for it, or cancel it.")
            self.running = job
        self._show(job.view())
        arguments = (job, work, then, failed)
        threading.Thread(target=self._run, args=arguments, name=f"workbench {name}", daemon=True).start()
        return job

    def cancel(self) -> bool:
        """Ask the running job to end; whether there was one."""
        job = self.running
        if job is None:
            return False
        job.cancel.set()
        return True

    def _run(
        self,
        job: Job,
        work: Callable[[Job], Any],
        then: Callable[[Any], None],
        failed: Callable[[Exception], None],
    ) -> None:
        unwatch = self._painter.watch(lambda: self._show(job.view()))
        try:
            value = work(job)
        except Exception as error:  # noqa: BLE001 - whatever it is, the user is told
            told = error
            self._end(job, unwatch, lambda: failed(told))
        else:
            self._end(job, unwatch, lambda: then(value))

    def _end(self, job: Job, unwatch: Callable[[], None], tell: Callable[[], None]) -> None:
        def end() -> None:
            unwatch()
            self.running = None
            try:
                self._show(None)
                tell()
            finally:
                job.finished.set()

        self._painter.post(end)


def wait_for(job: Job) -> None:
    """Until it ended and was shown; Ctrl-C cancels it first and is raised when it has ended."""
    try:
        while not job.finished.wait(0.2):  # a wait without end would not hear Ctrl-C on Windows
            pass
    except KeyboardInterrupt:
        job.cancel.set()
        job.finished.wait()
        raise
