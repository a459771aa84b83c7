"""A bounded queue of requests, run by threads that join waiting requests along the first dimension."""

from __future__ import annotations

import collections
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

Array: TypeAlias = "np.ndarray[Any, Any]"
Run: TypeAlias = Callable[[dict[str, Array]], dict[str, Array]]


class QueueFull(Exception):
    """The queue holds as many requests as it may."""


class TooLate(Exception):
    """The request waited longer than it may."""


@dataclass
class Waiting:
    """A request in the queue."""

    feeds: dict[str, Array]
    rows: int
    shape: tuple[Any, ...]  # requests of equal shape can be joined
    deadline: float
    result: Future[dict[str, Array]] = field(default_factory=Future)


@dataclass(frozen=True)
class Batching:
    """How requests are joined and bounded."""

    max_rows: int  # 1: each request is run alone
    max_wait_s: float  # how long a request waits for others, at most
    max_queue: int
    timeout_s: float
    threads: int  # how many runs go on at once


class Batcher:
    """Runs requests. `observe` is called with the rows of each run."""

    def __init__(self, run: Run, batching: Batching, observe: Callable[[int], None]) -> None:
        self._run = run
        self._batching = batching
        self._observe = observe
        self._queue: collections.deque[Waiting] = collections.deque()
        self._changed = threading.Condition()
        self._closed = False
        self._threads = [
            threading.Thread(target=self._work, name=f"run-{place}", daemon=True)
            for place in range(batching.threads)
        ]
        for thread in self._threads:
            thread.start()

    def __len__(self) -> int:
        return len(self._queue)

    def submit(self, feeds: dict[str, Array]) -> Future[dict[str, Array]]:
        """Put a request into the queue and return the future of its outputs."""
        joined = self._batching.max_rows > 1
        rows = next(iter(feeds.values())).shape[0] if joined and feeds else 1
        shape = tuple((name, array.shape[1:], array.dtype.str) for name, array in sorted(feeds.items()))
        waiting = Waiting(feeds, rows, shape, time.monotonic() + self._batching.timeout_s)
        with self._changed:
            if self._closed or len(self._queue) >= self._batching.max_queue:
                raise QueueFull
            self._queue.append(waiting)
            self._changed.notify_all()
        return waiting.result

    def close(self) -> None:
        """Run what is in the queue, then end the threads."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        for thread in self._threads:
            thread.join()

    def _work(self) -> None:
        while batch := self._next():
            self._answer(batch)

    def _next(self) -> list[Waiting]:
        """Return the oldest request and those that can be joined to it; nothing when the queue is closed."""
        with self._changed:
            while True:
                while not self._queue:
                    if self._closed:
                        return []
                    self._changed.wait()
                first = self._queue.popleft()
                if self._begins(first):
                    break
            batch, until = [first], time.monotonic() + self._batching.max_wait_s
            while True:
                self._join(batch)
                left = until - time.monotonic()
                if (
                    sum(waiting.rows for waiting in batch) >= self._batching.max_rows
                    or left <= 0
                    or self._closed
                ):
                    return batch
                self._changed.wait(left)

    def _join(self, batch: list[Waiting]) -> None:
        """Move requests of the same shape from the queue to the batch while there is room."""
        room = self._batching.max_rows - sum(waiting.rows for waiting in batch)
        for waiting in list(self._queue):
            if room <= 0:
                return
            if waiting.shape == batch[0].shape and waiting.rows <= room:
                self._queue.remove(waiting)
                if self._begins(waiting):
                    batch.append(waiting)
                    room -= waiting.rows

    def _begins(self, waiting: Waiting) -> bool:
        """Return whether the request is still wanted; its future cannot be cancelled from then on."""
        if not waiting.result.set_running_or_notify_cancel():
            return False
        if time.monotonic() > waiting.deadline:
            waiting.result.set_exception(TooLate())
            return False
        return True

    def _answer(self, batch: list[Waiting]) -> None:
        rows = sum(waiting.rows for waiting in batch)
        try:
            outputs = self._run(_joined(batch))
            self._observe(rows)
            parts = [outputs] if len(batch) == 1 else _parts(outputs, [waiting.rows for waiting in batch])
        except Exception as error:  # noqa: BLE001 - goes to the client that sent the inputs
            if len(batch) == 1:
                batch[0].result.set_exception(error)
                return
            for waiting in batch:  # one request's inputs must not fail the others
                self._answer([waiting])
            return
        for waiting, part in zip(batch, parts, strict=True):
            waiting.result.set_result(part)


def _joined(batch: list[Waiting]) -> dict[str, Array]:
    if len(batch) == 1:
        return batch[0].feeds
    return {name: np.concatenate([waiting.feeds[name] for waiting in batch]) for name in batch[0].feeds}


def _parts(outputs: Mapping[str, Array], rows: list[int]) -> list[dict[str, Array]]:
    """Cut the outputs of a joined run into those of its requests."""
    ends = np.cumsum(rows)
    for name, array in outputs.items():
        if array.ndim == 0 or array.shape[0] != ends[-1]:
            raise ValueError(f"output {name} has no row for each row of the inputs")
    return [
        {name: array[end - count : end] for name, array in outputs.items()}
        for count, end in zip(rows, ends, strict=True)
    ]
