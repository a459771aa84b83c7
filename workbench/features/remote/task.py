"""One call on its way to a worker of a Dask cluster: placed, its files sent, followed to its end."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from workbench._version import __version__
from workbench.core.background import check_cancel, in_background
from workbench.core.errors import ClusterError, WorkbenchError
from workbench.core.measure.limits import OnProgress, Progress
from workbench.core.text import listed, quoted
from workbench.features.remote import on_worker
from workbench.features.remote.on_worker import SentFile

if TYPE_CHECKING:
    from distributed import Client

MEASURING = "measuring"  # the resource of workers that measure: one thing at a time
_PART_BYTES = 16 << 20  # of a file in one message
_POLL_S = 0.1
_WATCH_S = (1.0, 5.0)  # between two questions to the scheduler, at first and after a long wait
_WATCHED = 0.1  # of the time waited, in between
SILENT_S = 15.0  # of a worker or a scheduler, after which it counts as lost
SAME_VERSION = "install the same version there: pip install 'ort-workbench[cluster]'"


def watch_s(waited_s: float) -> float:
    """Return how long to leave the scheduler in peace: hundreds of calls may wait for it."""
    least_s, most_s = _WATCH_S
    return min(max(least_s, _WATCHED * waited_s), most_s)


class RemoteTask:
    """One call on its way: placed on a free worker, its files sent, followed to its end."""

    def __init__(
        self, client: Client, target: str | None, cancel: threading.Event | None, on_progress: OnProgress
    ) -> None:
        self._client: Any = client  # Dask's methods have no types
        self._target, self._cancel, self._on_progress = target, cancel, on_progress
        self._worker: str | None = None  # its address, once the call is placed
        self._looked_s = 0.0
        self._key = f"ort-workbench-{uuid4().hex}"

    def run(self, kind: str, files: Mapping[SentFile, Path], arguments: Any, options: Any) -> bytes:
        """Make the call; return the bundle."""
        self._report(f"waiting for {'a machine' if self._target is None else quoted(self._target)}")
        with self._submitted(on_worker.missing, tuple(files)) as placing:
            version, wanted = self._answer(placing)
            self._worker = next(iter(self._client.who_has(placing)[placing.key]))
        if version != __version__:
            raise ClusterError(f"the worker has version {version}, here it is {__version__}", SAME_VERSION)
        for file in wanted:
            self._send(file, files[file])
        self._client.subscribe_topic(self._key, self._hear)
        try:
            sent = (kind, self._key, tuple(files), arguments, options)
            with self._submitted(on_worker.perform, *sent, key=self._key) as made:
                blob = self._answer(made)
        finally:
            self._client.unsubscribe_topic(self._key)
        if not isinstance(blob, bytes):
            raise ClusterError(f"the worker {self._worker} answered {quoted(blob)}", "look at its log")
        return blob

    def _send(self, file: SentFile, path: Path) -> None:
        for name in file.names:
            with (path.parent / name).open("rb") as source:
                size = os.fstat(source.fileno()).st_size
                for offset in range(0, max(1, size), _PART_BYTES):  # an empty file is one empty part
                    self._report(f"sending {name} to {self._worker}")
                    part = source.read(_PART_BYTES)
                    with self._submitted(on_worker.store, file, name, offset, part) as stored:
                        self._answer(stored)

    @contextmanager
    def _submitted(self, function: Callable[..., Any], *arguments: Any, key: str = "") -> Iterator[Any]:
        """Submit a task to a free worker, or to the one that was found; cancel it if it is left early."""
        needs = {MEASURING: 1, **({} if self._target is None else {self._target: 1})}
        place = {} if self._worker is None else {"workers": [self._worker], "allow_other_workers": False}
        key = key or f"{self._key}-{uuid4().hex}"
        future = self._client.submit(function, *arguments, key=key, resources=needs, pure=False, **place)
        try:
            yield future
        finally:
            if not future.done() and self._client.status == "running":
                with in_background(lambda _: future.cancel(), "cancel"):  # a frozen scheduler never answers
                    pass
            future.release()

    def _answer(self, future: Any) -> Any:
        """Wait for a task; say within seconds that its worker or the scheduler is lost."""
        began_s = time.monotonic()
        while not future.done():
            time.sleep(_POLL_S)
            check_cancel(self._cancel)
            if time.monotonic() - self._looked_s > watch_s(time.monotonic() - began_s):
                self._check_workers()
                self._looked_s = time.monotonic()
        if future.status == "finished":
            return future.result()
        error = future.exception() if future.status == "error" else None
        if isinstance(error, WorkbenchError):
            raise error
        if isinstance(error, ImportError):
            raise ClusterError(f"the worker cannot import the workbench: {error}", SAME_VERSION) from error
        self._check_workers()
        raise ClusterError(f"the call failed on {self._worker}: {error!r}", "look at the worker's log")

    def _check_workers(self) -> None:
        """Raise ClusterError if no worker can do it, or the one that does it is gone or silent."""
        tags, silent_s = self._ask_scheduler()
        if self._worker is not None:
            if silent_s is None:
                raise ClusterError(f"the worker {self._worker} left the cluster", "look at its log")
            if silent_s > SILENT_S:
                raise ClusterError(
                    f"the worker {self._worker} is silent for {silent_s:.0f} s: frozen, or out of reach",
                    "look at that machine, then call again",
                )
            return
        tag = self._target if self._target is not None and MEASURING in tags else MEASURING
        if tag in tags:
            return
        known = sorted(tags - {MEASURING})
        start = f'dask worker ADDRESS --nthreads 1 --resources "{MEASURING}=1 {self._target or "edge"}=1"'
        raise ClusterError(
            f"no worker of the cluster has the tag {quoted(tag)}"
            + (f"; they have {listed(known, 30)}" if known else ""),
            f"start one: {start}",
        )

    def _ask_scheduler(self) -> tuple[set[str], float | None]:
        gone = ClusterError("the scheduler of the cluster went away", "call again when it is back")
        asked_s = time.monotonic()

        def give_up() -> None:
            if time.monotonic() - asked_s > SILENT_S:
                raise gone

        if self._client.status != "running":
            raise gone
        work = partial(self._client.run_on_scheduler, _look, worker=self._worker)
        try:
            with in_background(lambda _: work(), "ask the scheduler", self._cancel) as asking:
                answer: tuple[set[str], float | None] = asking.result(give_up)
        except (OSError, TimeoutError, RuntimeError, ValueError) as error:  # what Dask raises when it closes
            raise gone from error
        return answer

    def _hear(self, event: tuple[float, Any]) -> None:
        """Show the progress that the worker reports, if it is well-formed."""
        with suppress(ValueError, TypeError, KeyError):
            fields = json.loads(event[1])
            self._on_progress(Progress(**{**fields, "doing": f"{self._worker}: {fields['doing']}"}))

    def _report(self, doing: str) -> None:
        self._on_progress(Progress(doing, 0, 0.0, 0.0, None, None))


def _look(worker: str | None, dask_scheduler: Any) -> tuple[set[str], float | None]:
    """Return, in the scheduler, for how many seconds a worker was silent, None if it is gone; before there is
    one, the tags of all that measure. Many calls ask each second, so the answer is small.
    """
    states = dask_scheduler.workers
    if worker is not None:
        return set(), time.time() - states[worker].last_seen if worker in states else None
    tags = (set(state.resources) for state in states.values() if MEASURING in state.resources)
    return set().union(*tags), None
