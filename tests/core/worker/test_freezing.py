"""A frozen worker stands still, and a system that does not allow it is found out."""

from __future__ import annotations

import sys
from pathlib import Path

import psutil
import pytest

from tests.core.worker.harness import interpreter, started
from workbench.core.worker import freezing

linux = pytest.mark.skipif(sys.platform != "linux", reason="Linux tells the states of threads")


@pytest.mark.real
@linux
def test_the_helpers_of_a_worker_stand_still_with_it(tmp_path: Path) -> None:
    told = tmp_path / "helper"
    wrapped = interpreter(tmp_path, f'sleep 600 & echo $! > {told}; exec "$PYTHON" "$@"')
    with started(tmp_path, python=wrapped) as worker:
        processes = [psutil.Process(worker.pid), psutil.Process(int(told.read_text()))]
        worker.freeze()
        while any(process.status() != psutil.STATUS_STOPPED for process in processes):
            assert all(process.is_running() for process in processes)
        worker.thaw()
        assert worker.request("call", {"job": "probe", "arguments": {}}, stage="probe", timeout_s=60).body
        assert worker.can_freeze


@pytest.mark.real
@linux
@pytest.mark.parametrize("error", [PermissionError(), None])
def test_a_worker_that_runs_on_is_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: PermissionError | None
) -> None:
    """Refused by the system, or a signal without effect."""

    def refuse(*_: object) -> None:
        if error is not None:
            raise error

    with started(tmp_path) as worker:
        with monkeypatch.context() as patch:
            patch.setattr("os.killpg", refuse)
            worker.freeze()
            worker.thaw()
        assert not worker.can_freeze


@pytest.mark.real
def test_a_process_that_is_gone_is_no_error(tmp_path: Path) -> None:
    worker = started(tmp_path)
    worker.close()
    worker.freeze()
    assert freezing.stop(worker.pid, worker.pid)
    freezing.go_on(worker.pid, worker.pid)


@pytest.mark.real
def test_windows_suspends_the_interpreter_and_not_its_launcher(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    class Process:
        def __init__(self, pid: int) -> None:
            self.pid = pid

        def suspend(self) -> None:
            asked.append(self.pid)

        def resume(self) -> None:
            raise psutil.NoSuchProcess(self.pid)

    with started(tmp_path) as worker, monkeypatch.context() as patch:
        patch.setattr(psutil, "Process", Process)
        patch.setattr(freezing, "HAS_SIGNALS", False)
        worker.pid = 4_000_001
        worker.freeze()
        worker.thaw()
    assert asked == [4_000_001]
