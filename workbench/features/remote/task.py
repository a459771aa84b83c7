"""One call on its way to a worker of a Dask cluster: placed, its files sent, followed to its end."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping
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

    def run(self, kind: str, files: Mapping[SentFile, Path], arguments: Any, options: Any) -> bytes:
        """Make the call; return the bundle."""
        self._report(f"waiting for {'a machine' if self._target is None else quoted(self._target)}")
        self._worker, version, wanted = self._answer(on_worker.missing, tuple(files))
        if version != __version__:
            raise ClusterError(f"the worker has version {version}, here it is {__version__}", SAME_VERSION)
        for file in wanted:
            self._send(file, files[file])
        key = f"ort-workbench-{uuid4().hex}"
        self._client.subscribe_topic(key, self._hear)
        try:
            blob = self._answer(on_worker.perform, kind, tuple(files), arguments, options, key=key)
        finally:
            self._client.unsubscribe_topic(key)
        if not isinstance(blob, bytes):
            raise ClusterError(f"the worker {self._worker} answered {quoted(blob)}", "look at its log")
        return blob

    def _send(self, file: SentFile, path: Path) -> None:
        for name in file.names:
            with (path.parent / name).open("rb") as source:
                size = os.fstat(source.fileno()).st_size
                for offset in range(0, max(1, size), _PART_BYTES):  # an empty file is one empty part
                    self._report(f"sending {name} to {self._worker}")
                    self._answer(on_worker.store, file, name, offset, source.read(_PART_BYTES))

    def _answer(self, function: Callable[..., Any], *arguments: Any, key: str | None = None) -> Any:
        """Have a free worker, or the one that was found, call a function; return what it returns.

        Say within seconds that the worker or the scheduler is lost. A task that is left early is cancelled,
        because nobody waits for it.
        """
        needs = {MEASURING: 1, **({} if self._target is None else {self._target: 1})}
        began_s = time.monotonic()
        future = self._client.submit(
            function, *arguments, key=key, workers=self._worker, resources=needs, pure=False
        )
        try:
            while not future.done():
                time.sleep(_POLL_S)
                check_cancel(self._cancel)
                if time.monotonic() - self._looked_s > watch_s(time.monotonic() - began_s):
                    self._check_workers()
                    self._looked_s = time.monotonic()
            return future.result()
        except WorkbenchError:
            raise
        except ImportError as error:
            raise ClusterError(f"the cluster cannot import the workbench: {error}", SAME_VERSION) from error
        except Exception as error:
            self._check_workers()
            raise ClusterError(f"the call failed on {self._worker}: {error!r}", "look at its log") from error
        finally:
            future.release()

    def _check_workers(self) -> None:
        """Raise ClusterError if no worker can make the call, or the scheduler gives no answer."""
        ask = partial(
            self._client.run_on_scheduler, _obstacle, worker=self._worker, target=self._target,
            callback_timeout=SILENT_S,  # Dask's own bound
        )  # fmt: skip
        try:
            if self._client.status != "running":
                raise ConnectionError(self._client.status)
            # A cancel does not wait for a frozen scheduler.
            with in_background(lambda _: ask(), "ask the scheduler", self._cancel) as asking:
                obstacle = asking.result()
        except (OSError, TimeoutError, RuntimeError, ValueError) as error:  # what Dask raises when it closes
            raise ClusterError(
                "the scheduler of the cluster went away", "call again when it is back"
            ) from error
        if obstacle is not None:
            raise ClusterError(*obstacle)

    def _hear(self, event: tuple[float, dict[str, Any]]) -> None:
        """Show the progress that the worker reports; Dask adds its address, and logs what is no progress."""
        fields = dict(event[1])
        doing = f"{fields.pop('worker')}: {fields.pop('doing')}"
        self._on_progress(Progress(doing, **fields))

    def _report(self, doing: str) -> None:
        self._on_progress(Progress(doing))


def _obstacle(worker: str | None, target: str | None, dask_scheduler: Any) -> tuple[str, str] | None:
    """Return, in the scheduler, why the worker, or any one, cannot make the call, and what to do.

    Many calls ask each second, so the answer is small.
    """
    states = dask_scheduler.workers
    if worker is not None:
        if worker not in states:
            return f"the worker {worker} left the cluster", "look at its log"
        silent_s = time.time() - states[worker].last_seen
        if silent_s <= SILENT_S:
            return None
        silence = f"the worker {worker} is silent for {silent_s:.0f} s: frozen, or out of reach"
        return silence, "look at that machine, then call again"
    tags = {tag for state in states.values() if MEASURING in state.resources for tag in state.resources}
    tag = target if target is not None and tags else MEASURING
    if tag in tags:
        return None
    others = sorted(tags - {MEASURING})
    known = f"; they have {listed(others, 30)}" if others else ""
    start = f'dask worker ADDRESS --nthreads 1 --resources "{MEASURING}=1 {target or "edge"}=1"'
    return f"no worker of the cluster has the tag {quoted(tag)}{known}", f"start one: {start}"
