"""Work in a daemon thread that hears a request to stop, so that Python can always exit."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager
from typing import Generic, TypeVar

from workbench.core.errors import Cancelled

_POLL_S = 0.05
GRACE_S = 2.0  # for the work to hear that it should stop, and to end its processes
Result = TypeVar("Result")


def check_cancel(cancel: threading.Event | None) -> None:
    """Raise Cancelled once the user has asked to stop."""
    if cancel is not None and cancel.is_set():
        raise Cancelled("stopped on request", "start it again when you want the answer")


@contextmanager
def in_background(
    work: Callable[[threading.Event], Result], name: str, cancel: threading.Event | None = None
) -> Iterator[Task[Result]]:
    """Start `work` and yield the task, which waits for the result; leaving the block asks `work` to stop.

    `work` gets the event that asks it. A thread that does not hear it delays nothing: it is a daemon.
    """
    task = Task(work, name, cancel)
    try:
        yield task
    finally:
        task.stop.set()
        wait([task.future], GRACE_S)


class Task(Generic[Result]):
    """Work in its thread, and its result."""

    def __init__(
        self, work: Callable[[threading.Event], Result], name: str, cancel: threading.Event | None
    ) -> None:
        self.stop = threading.Event()
        self._work = work
        self._cancel = cancel
        self.future: Future[Result] = Future()
        threading.Thread(target=self._run, name=name, daemon=True).start()

    def result(self, on_wait: Callable[[], None] = lambda: None) -> Result:
        """Wait for the result, or raise what `work` raised; a request to cancel ends the wait.

        `on_wait` is called many times a second meanwhile, in the caller's thread; its error ends the wait.
        """
        while not wait([self.future], _POLL_S).done:
            check_cancel(self._cancel)
            on_wait()
        return self.future.result()

    def _run(self) -> None:
        try:
            self.future.set_result(self._work(self.stop))
        except BaseException as error:  # noqa: BLE001 - raised again where the result is asked for
            self.future.set_exception(error)
