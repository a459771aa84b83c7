"""A Dask client without a cluster: functions of workers run here, workers die when they are asked to."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from workbench.search.cluster import on_worker


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
            answer = function(*arguments)
            if address in self.infos and self.status == "running":  # the dead answer nothing
                future.inner.set_result(answer)

        self.on_submit(address)
        if address in self.infos:
            threading.Thread(target=work, daemon=True).start()
        return future
