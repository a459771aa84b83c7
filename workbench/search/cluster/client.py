"""A study on a cluster: placed on a machine that fits, followed round by round, and given to another worker
if its own dies."""

from __future__ import annotations

import json
import os
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import uuid4

import workbench.errors
from workbench.background import check_cancel
from workbench.errors import Cancelled, ClusterError, ConfigError, WorkbenchError, WorkerError
from workbench.judge.continuing import check_same_machine
from workbench.measurement.limits import OnProgress, Progress
from workbench.models import Model
from workbench.records.machine import Machine
from workbench.records.study import StudyRecord
from workbench.search.cluster import on_worker
from workbench.search.cluster.order import order_of, pack, unpack_study
from workbench.search.cluster.workers import POLL_S, Cluster, ClusterWorker, WorkerLost
from workbench.search.request import LEAST_BUDGET_S, StudyRequest
from workbench.search.study import OnMeasured

PART_BYTES = 16 << 20  # of a model's file in one message
MOST_LOST = 3  # workers, after which the study itself is suspected to end them


def run_on_cluster(
    request: StudyRequest,
    cluster: Cluster,
    *,
    target: str | None = None,
    on_progress: OnProgress = lambda _: None,
    on_measured: OnMeasured = lambda _: None,
    cancel: threading.Event | None = None,
) -> StudyRecord:
    """Run the whole study on one machine of the cluster that has the tag `target`.

    An empty space: the default one of that machine. The rounds of a worker that dies are kept where the
    work goes on on an equal machine; on another one the study begins anew, since times of two machines are
    never compared.
    """
    cluster.check_target(target)
    latest, ends_s = request.earlier, request.budget_s
    if latest is not None and not any(_is_of(latest, worker.machine) for worker in cluster.workers()):
        raise ClusterError(
            "no worker of the cluster is the machine that this study was measured on",
            "tune anew on the machines that the cluster has: wb.tune(model, client=client)",
        )
    required = request.earlier is not None

    def fits(worker: ClusterWorker) -> bool:
        if required and latest is not None and not _is_of(latest, worker.machine):
            return False
        return target is None or target in worker.tags

    def report_wait() -> None:
        on_progress(Progress("waiting for a free machine", 0, 0.0, request.budget_s, None, None))

    for _ in range(MOST_LOST):
        with cluster.placed(fits, cancel, report_wait) as worker:
            keeps = latest is not None and _is_of(latest, worker.machine)
            following = _Following(
                replace(request, earlier=latest if keeps else None, budget_s=ends_s),
                cluster,
                worker,
                on_progress,
                on_measured,
                cancel,
            )
            try:
                return following.record()
            except WorkerLost:
                if following.latest is not None:
                    spent_s = following.latest.elapsed_s - (latest.elapsed_s if keeps and latest else 0.0)
                    latest, ends_s = following.latest, max(LEAST_BUDGET_S, ends_s - spent_s)
    raise ClusterError(
        f"{MOST_LOST} workers died while they measured this study",
        "look at their logs (memory?); every finished round is in the history",
    )


@dataclass(slots=True)
class _Following:
    """One study on one worker, followed until it ends."""

    request: StudyRequest
    cluster: Cluster
    worker: ClusterWorker
    on_progress: OnProgress
    on_measured: OnMeasured
    cancel: threading.Event | None
    latest: StudyRecord | None = None
    order: str = field(default_factory=lambda: uuid4().hex)
    known: int = 0  # records of this study that came

    def record(self) -> StudyRecord:
        """Send the study, wait for its end, and return its record; meanwhile pass on every round."""
        ask, worker = self.cluster.ask, self.worker
        sending = f"sending the model to {worker.host}"
        self.on_progress(Progress(sending, 0, 0.0, self.request.budget_s, None, None))
        _send_model(self.cluster, worker, self.request.model, self.order, self.cancel)
        ask(worker.address, on_worker.take, self.order, pack(order_of(self.request)))
        future = self.cluster.submit(worker, self.order)
        try:
            while not future.done():
                time.sleep(POLL_S)  # the scheduler hears of a dead worker before the worker is asked
                check_cancel(self.cancel)
                self.cluster.check_alive(worker)
                self._look()
            return self._ended(future)
        except Cancelled as error:
            with suppress(WorkerLost, ClusterError):
                self._look()  # a round may have ended since the last look
            raise self._stopped(error) from error
        finally:
            if not future.done():
                with suppress(WorkerLost, ClusterError):  # then nothing is left to be stopped
                    ask(worker.address, on_worker.stop, self.order)
            future.release()

    def _look(self) -> None:
        """Fetch the progress, and the record if there is a new round."""
        answer = self.cluster.ask(self.worker.address, on_worker.look, self.order, self.known)
        progress, blob, self.known = answer
        if blob is not None:
            self.latest = unpack_study(blob)
            self.on_measured(self.latest)
        values = json.loads(progress)
        if values is not None:
            doing = f"{self.worker.host}: {values['doing']}"
            self.on_progress(Progress(**{**values, "doing": doing, "verdicts": (), "samples": ()}))

    def _ended(self, future: Any) -> StudyRecord:
        if future.status != "finished":
            self.cluster.check_alive(self.worker)
            raise WorkerError(
                f"the study failed on {self.worker.host}: {future.exception()!r}", "report this as a bug"
            )
        answer = future.result()
        if "error" in answer:
            kind = getattr(workbench.errors, str(answer["error"]), WorkerError)
            error: WorkbenchError = kind(answer["problem"], answer["fix"])
            raise error
        return unpack_study(answer["record"])

    def _stopped(self, error: Cancelled) -> Cancelled:
        if self.latest is None:
            return error
        return Cancelled(
            "stopped on request; every finished round is kept in the history",
            f"go on with wb.history().open({self.latest.id!r}).attach(model).continue_(client=client)",
        )


def _send_model(
    cluster: Cluster, worker: ClusterWorker, model: Model, order: str, cancel: threading.Event | None
) -> None:
    """Send the model's files part by part, unless the worker has them."""
    if cluster.ask(worker.address, on_worker.has_model, model.name, model.sha256):
        return
    files = (model.path.name, *(file.name for file in model.external))
    for name in files:
        with (model.path.parent / name).open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            for offset in range(0, max(1, size), PART_BYTES):  # an empty file is one empty part
                check_cancel(cancel)
                part = file.read(PART_BYTES)
                cluster.ask(worker.address, on_worker.store, model.sha256, order, name, offset, part)


def _is_of(record: StudyRecord, machine: Machine) -> bool:
    """Return whether a study was measured on a machine equal to this one."""
    try:
        check_same_machine(record.selection.machine, machine)
    except ConfigError:
        return False
    return True
