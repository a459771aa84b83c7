"""Workers that another process forks: alike in all but their start."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import psutil
import pytest
from onnx import TensorProto, helper

from tests.core.models import tiny
from tests.core.worker.harness import interpreter, load_plan, mlp_feed
from workbench.core.errors import Cancelled, WorkerError
from workbench.core.worker import forking
from workbench.core.worker.forking import ForkedProcess, ForkServers
from workbench.core.worker.launch import Worker
from workbench.core.worker.values import read_values, write_values

pytestmark = [pytest.mark.real, pytest.mark.skipif(not forking.CAN_FORK, reason="Linux forks workers")]


@pytest.fixture
def servers() -> Iterator[ForkServers]:
    with ForkServers() as started:
        yield started
    assert not [
        child for child in psutil.Process().children(recursive=True) if "fork_server" in str(child.cmdline())
    ]


def test_workers_of_one_server_run_models(tmp_path: Path, servers: ForkServers) -> None:
    model = tiny.save(tiny.mlp(), tmp_path)
    write_values(tmp_path / "feeds", [mlp_feed()])
    with servers.start(tmp_path, name="A") as first, servers.start(tmp_path, name="B") as second:
        pids, imports_s = set(), set()
        for worker in (first, second):
            imports_s.add(worker.hello(timeout_s=60)["import_s"])
            assert isinstance(worker.process, ForkedProcess)
            pids.add(worker.pid)
            request = {"model": str(model), "plan": load_plan()}
            worker.request("load", request, stage="load", timeout_s=60)
            worker.request("first_run", {"feeds": str(tmp_path / "feeds")}, stage="run", timeout_s=60)
            worker.freeze()
            worker.thaw()
            worker.request("usage", {}, stage="run", timeout_s=60)
        assert len(pids) == 2
        assert len(imports_s) == 1, "the server imports ONNX Runtime once for all"
        parents = {psutil.Process(pid).ppid() for pid in pids}
        assert len(parents) == 1
        assert os.getpid() not in parents


def test_a_kernel_with_many_open_files_still_starts_workers(tmp_path: Path, servers: ForkServers) -> None:
    """`select` refuses files from number 1,024 on."""
    import resource  # not on Windows

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 2_000)), hard))
    with ExitStack() as stack:
        for _ in range(1_100):
            stack.enter_context(Path(os.devnull).open("rb"))
        with servers.start(tmp_path, name="A") as worker:
            assert worker.hello(timeout_s=60)["import_s"] > 0
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_crash_is_named_and_the_server_goes_on(tmp_path: Path, servers: ForkServers) -> None:
    with servers.start(tmp_path, name="A") as worker:
        worker.hello(timeout_s=60)
        os.kill(worker.pid, signal.SIGSEGV)
        with pytest.raises(WorkerError, match="SIGSEGV"):
            worker.request("usage", {}, stage="run", timeout_s=60)
    with servers.start(tmp_path, name="B") as worker:
        assert worker.hello(timeout_s=60)["pid"] == worker.pid


def test_a_server_that_was_killed_is_replaced(tmp_path: Path, servers: ForkServers) -> None:
    with servers.start(tmp_path, name="A") as worker:
        worker.hello(timeout_s=60)
        server = psutil.Process(psutil.Process(worker.pid).ppid())
        server.kill()
        with pytest.raises(WorkerError):
            worker.request("usage", {}, stage="run", timeout_s=60)
    psutil.wait_procs([server], timeout=60)
    with servers.start(tmp_path, name="B") as worker:
        assert worker.hello(timeout_s=60)["pid"] == worker.pid


def test_an_interpreter_that_cannot_fork_workers_starts_them(tmp_path: Path, servers: ForkServers) -> None:
    quitter = interpreter(tmp_path, 'case "$*" in *fork_server*) exit 1;; esac; exec "$PYTHON" "$@"')
    with servers.start(tmp_path, name="A", python=quitter) as worker:
        worker.hello(timeout_s=60)
        assert not isinstance(worker.process, ForkedProcess)


SILENT = """
import json, os, socket

channel = socket.socket(fileno=0)
channel.send(json.dumps({"can_fork": True}).encode())
channel.recv(65536)  # the first request is answered only when the next one comes
channel.recv(65536)
channel.send(json.dumps({"pid": os.getpid()}).encode())
channel.recv(65536)
"""


def test_a_late_answer_is_not_that_of_the_next_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forking, "ANSWER_S", 0.05)
    (tmp_path / "silent.py").write_text(SILENT)
    silent = interpreter(tmp_path, f'exec "$PYTHON" {tmp_path}/silent.py')
    with ForkServers() as servers:
        for name in "AB":
            with pytest.raises(WorkerError, match="could not be started"):
                servers.start(tmp_path, name=name, python=silent).close()


def test_a_cancelled_start_leaves_nothing(tmp_path: Path) -> None:
    cancel = threading.Event()
    cancel.set()
    slow = interpreter(tmp_path, "sleep 600")
    with ForkServers(cancel) as servers, pytest.raises(Cancelled):
        servers.start(tmp_path, name="A", python=slow)


def test_random_operators_differ_from_worker_to_worker(tmp_path: Path, servers: ForkServers) -> None:
    """ORT draws its seed when it is imported, which forked workers have in common."""
    node = helper.make_node("RandomNormalLike", ["x"], ["y"])
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 8]) for name in "xy"]
    graph = helper.make_graph([node], "random", values[:1], values[1:])
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    write_values(tmp_path / "feeds", [{"x": np.zeros((1, 8), np.float32)}])
    model, outputs = tiny.save(proto, tmp_path), []
    for name in "AB":
        with servers.start(tmp_path, name=name) as worker:
            worker.hello(timeout_s=60)
            _ask(worker, "load", model=str(model), plan=load_plan())
            _ask(worker, "first_run", feeds=str(tmp_path / "feeds"))
            _ask(worker, "outputs", path=str(tmp_path / name))
        outputs.append(read_values(tmp_path / name)[0]["y"])
    assert not np.array_equal(*outputs)


def _ask(worker: Worker, kind: str, **body: object) -> None:
    worker.request(kind, body, stage=kind, timeout_s=60)


def test_the_server_shares_this_interpreter(tmp_path: Path, servers: ForkServers) -> None:
    with servers.start(tmp_path, name="A") as worker:
        versions = worker.hello(timeout_s=60)["versions"]
    assert versions["python"] == sys.version.split()[0]
