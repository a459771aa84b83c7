"""A thread that runs posted tasks in order, and watchers ten times a second while there are any.

One task thread sets the traits that jobs change, another draws figures and makes inputs. Two threads that
import a large module at once may be given a half-made one, so `import_shared` lets in one at a time. A fresh
kernel shows the panels before any of these is imported, which would take half of the time until then; opening
a model begins it.
"""

from __future__ import annotations

import threading
import traceback
from collections.abc import Callable
from importlib import import_module
from queue import Empty, SimpleQueue

TICK_S = 0.1  # 100 updates of a figure were 0.44 MB over the websocket; eyes need no more than ten a second
SHARED_MODULES = ("pandas", "plotly.graph_objects")
_lock = threading.Lock()

Task = Callable[[], None]


class TaskThread:
    """A daemon thread with a queue of tasks, started by the first one."""

    def __init__(self, name: str, on_bug: Callable[[str], None]) -> None:
        self._name = name
        self._tasks: SimpleQueue[Task] = SimpleQueue()
        self._watchers: dict[int, Task] = {}
        self._on_bug = on_bug
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()

    def post(self, task: Task) -> None:
        """Queue a task and return at once; callable from any thread."""
        with self._starting:
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name=f"workbench {self._name}", daemon=True)
                self._thread.start()
        self._tasks.put(task)

    def watch(self, watcher: Task) -> Task:
        """Call `watcher` at every tick until the returned function is called; callable from any thread."""
        key = id(watcher)
        self._watchers[key] = watcher
        self.post(lambda: None)  # wakes a thread that waits without a timeout
        return lambda: (self._watchers.pop(key, None), None)[1]

    def _run(self) -> None:
        while True:
            try:
                tasks = [self._tasks.get(timeout=TICK_S if self._watchers else None)]
            except Empty:
                tasks = list(self._watchers.values())
            for task in tasks:
                try:
                    task()
                except Exception:  # noqa: BLE001 - reported, and the next task must still run
                    self._on_bug(traceback.format_exc())


def import_shared() -> None:
    """Import them, or wait until another thread has."""
    with _lock:
        for name in SHARED_MODULES:
            import_module(name)
