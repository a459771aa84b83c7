"""A thread that runs what is posted to it, in order; while it is asked to, it also looks ten times a second.

One such line sets all traits that jobs change (the painter), another makes the figures (the drawer).
"""

from __future__ import annotations

import threading
import traceback
from collections.abc import Callable
from queue import Empty, SimpleQueue

TICK_S = 0.1  # 100 updates of a figure were 0.44 MB over the websocket; eyes need no more than ten a second


class Line:
    """Its thread never outlives the process."""

    def __init__(self, name: str, on_trouble: Callable[[str], None]) -> None:
        self._name = name
        self._acts: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._ticks: dict[int, Callable[[], None]] = {}
        self._on_trouble = on_trouble
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()

    def post(self, act: Callable[[], None]) -> None:
        """Run it soon, after what was posted before. Returns at once; for any thread."""
        with self._starting:
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name=f"workbench {self._name}", daemon=True)
                self._thread.start()
        self._acts.put(act)

    def watch(self, tick: Callable[[], None]) -> Callable[[], None]:
        """Call it at every tick until the function that this returns is called; for any thread."""
        key = id(tick)
        self._ticks[key] = tick
        self.post(lambda: None)  # wakes a thread that waits for ever
        return lambda: (self._ticks.pop(key, None), None)[1]

    def settle(self) -> None:
        """Wait until everything posted so far was run."""
        if threading.current_thread() is self._thread:
            return
        done = threading.Event()
        self.post(done.set)
        done.wait()

    def _run(self) -> None:
        while True:
            try:
                acts = [self._acts.get(timeout=TICK_S if self._ticks else None)]
            except Empty:
                acts = list(self._ticks.values())
            for act in acts:
                try:
                    act()
                except Exception:  # noqa: BLE001 - told, and the next one must still be done
                    self._on_trouble(traceback.format_exc())
