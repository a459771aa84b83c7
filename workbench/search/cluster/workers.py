"""The workers of a Dask cluster that measure, seen through its client."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from workbench._version import __version__
from workbench.background import check_cancel, in_background
from workbench.errors import ClusterError, WorkbenchError
from workbench.records.machine import Machine
from workbench.search.cluster import on_worker
from workbench.search.cluster.connection import check_client
from workbench.search.cluster.order import unpack
from workbench.text import listed, quoted

if TYPE_CHECKING:
    from distributed import Client

MEASURING = "measuring"  # the resource of workers that measure: one thing at a time
RETURN_S = 30.0  # that a restarted worker has to come back
POLL_S = 0.25
CLOSED = (OSError, TimeoutError, RuntimeError, ValueError, CancelledError)  # what Dask raises when it closes
WATCH_S = 1.0
SETTLE_S = 5.0  # after a broken connection, until Dask knows whether the worker or the scheduler is gone
T = TypeVar("T")
Fits = Callable[["ClusterWorker"], bool]


@dataclass(frozen=True, slots=True)
class ClusterWorker:
    """One worker process. Its tags are the resources that it was started with and what its machine has."""

    address: str
    host: str
    tags: frozenset[str]
    machine: Machine


class WorkerLost(Exception):
    """The worker is no longer part of the cluster; another one may take its work."""


class Cluster:
    """The cluster of a client. One study at a time is placed on each host."""

    def __init__(self, client: Client) -> None:
        self._client = check_client(client)
        self._described: dict[str, ClusterWorker] = {}
        self._busy_hosts: set[str] = set()
        self._changed = threading.Condition()

    def workers(self) -> list[ClusterWorker]:
        """Return the workers that measure."""
        measuring = []
        for address, info in self._infos().items():
            if info.get("resources", {}).get(MEASURING, 0) < 1:
                continue
            if address not in self._described:
                try:
                    self._described[address] = self._description(address, info)
                except WorkerLost:
                    continue
            measuring.append(self._described[address])
        return measuring

    def check_target(self, target: str | None) -> None:
        """Refuse a target that no worker of the cluster is."""
        workers = self.workers()
        if not workers:
            raise ClusterError(
                f"no worker of the cluster has the resource {MEASURING}",
                f'start one on each machine: dask worker ADDRESS --nthreads 1 --resources "{MEASURING}=1"',
            )
        if target is not None and not any(target in worker.tags for worker in workers):
            known = sorted({tag for worker in workers for tag in worker.tags} - {MEASURING})
            raise ClusterError(
                f"no worker of the cluster has the tag {quoted(target)}",
                f"they have {listed(known, 30)}; start a worker with another: "
                f'--resources "{MEASURING}=1 {target}=1"',
            )

    @contextmanager
    def placed(
        self, fits: Fits, cancel: threading.Event | None, on_wait: Callable[[], None]
    ) -> Iterator[ClusterWorker]:
        """Wait for a worker that fits on a host without another study of ours, and yield it."""
        worker = self._free_worker(fits, cancel, on_wait)
        try:
            yield worker
        finally:
            with self._changed:
                self._busy_hosts.discard(worker.host)
                self._changed.notify_all()

    def submit(self, worker: ClusterWorker, order: str) -> Any:
        """Submit the study of an order that the worker has; return the future."""
        self._check_running()
        return self._client.submit(
            on_worker.run_order,
            order,
            key=f"ort-workbench-{order}",
            workers=[worker.address],
            allow_other_workers=False,
            resources={MEASURING: 1},
            pure=False,
        )

    def check_alive(self, worker: ClusterWorker) -> None:
        """Raise WorkerLost if the worker left, ClusterError if the scheduler went away."""
        if worker.address not in self._infos():
            self._described.pop(worker.address, None)
            raise WorkerLost(worker.address)

    def _free_worker(
        self, fits: Fits, cancel: threading.Event | None, on_wait: Callable[[], None]
    ) -> ClusterWorker:
        waited_since_s = time.monotonic()
        while True:
            check_cancel(cancel)
            fitting = [worker for worker in self.workers() if fits(worker)]
            with self._changed:
                for worker in fitting:
                    if worker.host not in self._busy_hosts:
                        self._busy_hosts.add(worker.host)
                        return worker
                if fitting:
                    waited_since_s = time.monotonic()
                elif time.monotonic() - waited_since_s > RETURN_S:
                    raise ClusterError(
                        "no worker of the cluster can take the work over",
                        "start a worker on that machine; every finished round is in the history",
                    )
                self._changed.wait(POLL_S)
            on_wait()

    def _infos(self) -> dict[str, Any]:
        self._check_running()
        try:
            infos: dict[str, Any] = self._client.scheduler_info()["workers"]
        except CLOSED as error:
            raise self._gone() from error
        return infos

    def _description(self, address: str, info: dict[str, Any]) -> ClusterWorker:
        described = unpack(on_worker.WorkerDescription, self.ask(address, on_worker.describe))
        if described.workbench != __version__:
            raise ClusterError(
                f"the worker {address} has version {described.workbench} of the workbench, "
                f"here it is {__version__}",
                "install the same version on both",
            )
        tags = frozenset((*info.get("resources", {}), *described.tags))
        return ClusterWorker(address, info.get("host") or address, tags, described.machine)

    def ask(self, address: str, function: Callable[..., T], *arguments: Any) -> T:
        """Call a function in the process of a worker, beside its task, and return the result."""
        self._check_running()
        try:
            with in_background(
                lambda _: self._client.run(function, *arguments, workers=[address]), f"ask {address}"
            ) as asking:
                answers: dict[str, T] = asking.result(self._watch(address))
                return answers[address]
        except (WorkbenchError, WorkerLost):
            raise
        except ImportError as error:
            raise ClusterError(
                f"the worker {address} cannot import the workbench: {error}",
                "install the same version there: pip install 'ort-workbench[cluster]'",
            ) from error
        except (*CLOSED, KeyError) as error:
            until_s = time.monotonic() + SETTLE_S
            while time.monotonic() < until_s:
                if address not in self._infos():
                    raise WorkerLost(address) from error
                time.sleep(POLL_S)
            raise ClusterError(
                f"the worker {address} does not answer: {error}", "look at its log; then tune again"
            ) from error

    def _watch(self, address: str) -> Callable[[], None]:
        """Return what notices a worker that leaves while it is asked: Dask itself waits half a minute."""
        looked_s = time.monotonic()

        def watch() -> None:
            nonlocal looked_s
            if time.monotonic() - looked_s > WATCH_S:
                looked_s = time.monotonic()
                if address not in self._infos():
                    raise WorkerLost(address)

        return watch

    def _check_running(self) -> None:
        if self._client.status != "running":
            raise self._gone()

    def _gone(self) -> ClusterError:
        return ClusterError(
            "the scheduler of the cluster went away",
            "every finished round is in the history; when the cluster is back, open the study there and go "
            "on: study.attach(model).continue_(client=…)",
        )
