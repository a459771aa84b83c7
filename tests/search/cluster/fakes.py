"""A Dask client without a cluster: functions of workers run here, workers die when they are asked to."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import workbench as wb
from tests.factories.results import study
from workbench.records.machine import Machine
from workbench.records.study import StudyRecord
from workbench.search.cluster import on_worker, workers
from workbench.search.cluster.on_worker import WorkerDescription
from workbench.search.cluster.order import pack

RECORD = study()
HERE = RECORD.selection.machine
OTHER = replace(HERE, cpu="another processor")
Run = Callable[..., StudyRecord]


class FakeFuture:
    """The future of one task."""

    def __init__(self) -> None:
        self.inner: Future[Any] = Future()

    @property
    def status(self) -> str:
        if not self.inner.done():
            return "pending"
        return "error" if self.inner.exception() else "finished"

    def done(self) -> bool:
        return self.inner.done()

    def result(self) -> Any:
        return self.inner.result()

    def exception(self) -> BaseException | None:
        return self.inner.exception()

    def release(self) -> None:
        """Forget the task."""


class FakeClient:
    """`infos`: the workers by address, as `scheduler_info` lists them. `machines`: their descriptions."""

    def __init__(self, infos: dict[str, dict[str, Any]], machines: dict[str, bytes]) -> None:
        self.status = "running"
        self.infos = infos
        self.machines = machines
        self.placed: list[str] = []
        self.sent: list[str] = []
        self.on_submit: Callable[[str], None] = lambda _: None

    def scheduler_info(self) -> dict[str, Any]:
        return {"workers": dict(self.infos)}

    def run(self, function: Callable[..., Any], *arguments: Any, workers: list[str]) -> dict[str, Any]:
        (address,) = workers
        if address not in self.infos:
            raise OSError(f"nobody listens at {address}")
        if function is on_worker.describe:
            return {address: self.machines[address]}
        if function is on_worker.store:
            self.sent.append(address)
        return {address: function(*arguments)}

    def submit(
        self, function: Callable[..., Any], *arguments: Any, workers: list[str], **_: Any
    ) -> FakeFuture:
        future, (address,) = FakeFuture(), workers
        self.placed.append(address)

        def work() -> None:
            try:
                answer = function(*arguments)
            except Exception as error:  # noqa: BLE001 - whatever a task raises is its answer
                future.inner.set_exception(error)
                return
            if address in self.infos and self.status == "running":  # the dead answer nothing
                future.inner.set_result(answer)

        self.on_submit(address)
        if address in self.infos:
            threading.Thread(target=work, daemon=True).start()
        return future


def client_of(**machines: Machine) -> FakeClient:
    """Return the client of a cluster with a worker of each name, each on a host of its own."""
    return FakeClient(
        {name: {"host": name, "resources": {"measuring": 1.0, f"tag-{name}": 1.0}} for name in machines},
        {
            name: pack(WorkerDescription(machine, ("AVX2",), wb.__version__))
            for name, machine in machines.items()
        },
    )


def quicken(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    """Take fake clients for real ones, wait for nothing, and keep everything in this folder."""
    monkeypatch.setenv("WORKBENCH_HOME", str(home))
    monkeypatch.setattr(workers, "check_client", lambda client: client)
    monkeypatch.setattr(workers, "RETURN_S", 0.2)
    monkeypatch.setattr(workers, "POLL_S", 0.01)
    monkeypatch.setattr("workbench.search.cluster.client.POLL_S", 0.01)


def running(monkeypatch: pytest.MonkeyPatch, run: Run) -> None:
    """Let workers run this in place of a study."""
    monkeypatch.setattr(on_worker, "run_study", run)
