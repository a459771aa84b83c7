"""The temporary folder: swept when its kernel is dead, never while it lives, and told of when it is full."""

from __future__ import annotations

import errno
import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import BinaryIO

import pytest

import workbench
from tests.core.models import tiny
from tests.core.worker.harness import load_plan, mlp_feed, started
from workbench.core.errors import RunFailed, StorageError
from workbench.core.worker.endings import refused
from workbench.core.worker.launch import Worker, WorkerFolder
from workbench.core.worker.protocol import command
from workbench.core.worker.values import write_values

UNWRITTEN = "Protobuf serialization failed."


@pytest.fixture
def parent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where temporary folders are made."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


def dead_pid() -> int:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_the_folder_of_a_dead_kernel_is_swept(parent: Path) -> None:
    stale = parent / f"ort-workbench-{dead_pid()}-abc"
    stale.mkdir()
    (stale / "A.log").write_text("left over")
    mine = parent / f"ort-workbench-{os.getpid()}-abc"
    mine.mkdir()
    with WorkerFolder() as folder:
        assert folder.is_dir()
        assert not stale.exists()
        assert mine.exists()
    assert not folder.exists()


@pytest.mark.skipif(os.name != "posix", reason="locks of POSIX")
def test_a_living_folder_stays_though_its_process_id_is_unknown_here(parent: Path) -> None:
    """As of a kernel in another container."""
    with WorkerFolder() as folder:
        elsewhere = folder.rename(parent / f"ort-workbench-{dead_pid()}-abc")
        with WorkerFolder():
            assert elsewhere.exists()
    with WorkerFolder():
        assert not elsewhere.exists()


@pytest.mark.real
def test_a_folder_that_cannot_be_made_says_so(parent: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(parent / "nowhere"))
    with pytest.raises(StorageError, match="temporary folder") as caught:
        WorkerFolder()
    assert "TMPDIR" in caught.value.fix
    with pytest.raises(StorageError, match="temporary folder"):
        Worker(parent / "nowhere", name="W")


def test_a_disk_that_fills_up_in_this_process_says_so(parent: Path) -> None:
    with pytest.raises(StorageError, match="full"), WorkerFolder():
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    with pytest.raises(FileNotFoundError), WorkerFolder() as folder:
        (parent / "model.onnx").read_bytes()
    assert not folder.exists()


@pytest.mark.real
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device that is always full")
def test_a_disk_that_fills_up_in_the_worker_is_not_blamed_on_the_config(tmp_path: Path) -> None:
    feeds = tmp_path / "feeds"
    write_values(feeds, [mlp_feed()])
    model = tiny.save(tiny.mlp(), tmp_path)
    with started(tmp_path) as worker:
        worker.request("load", {"model": str(model), "plan": load_plan()}, stage="load", timeout_s=60)
        worker.request("first_run", {"feeds": str(feeds)}, stage="first run", timeout_s=60)
        with pytest.raises(StorageError, match="full") as caught:
            worker.request("outputs", {"path": "/dev/full"}, stage="outputs", timeout_s=60)
        assert "free some space" in caught.value.fix
        with pytest.raises(RunFailed):
            worker.request("load", {"model": "nowhere", "plan": load_plan()}, stage="load", timeout_s=60)


@pytest.mark.real
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device that is always full")
def test_an_error_reaches_the_kernel_though_the_log_is_on_a_full_disk(tmp_path: Path) -> None:
    def spawn(_: BinaryIO) -> subprocess.Popen[bytes]:
        with Path("/dev/full").open("wb") as log:
            return subprocess.Popen(
                command(sys.executable, "child"),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                process_group=0,
            )

    with Worker(tmp_path, name="W", spawn=spawn) as worker:
        worker.hello(timeout_s=60)
        body = {"job": "probe", "arguments": {"no": "such argument"}}
        with pytest.raises(RunFailed, match="no"):
            worker.request("call", body, stage="probe", timeout_s=60)
        with pytest.raises(RunFailed, match="nowhere"):
            worker.request("load", {"model": "nowhere", "plan": load_plan()}, stage="load", timeout_s=60)


def test_a_graph_that_ort_cannot_write_is_no_fault_of_the_model(
    parent: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = {"type": "Fail", "message": "[ONNXRuntimeError] : 7 : INVALID_PROTOBUF : " + UNWRITTEN}
    with_room = refused(answer, "load")
    assert isinstance(with_room, RunFailed)
    assert "TMPDIR" in with_room.fix
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=4096))
    without = refused(answer, "load")
    assert isinstance(without, StorageError)
    assert str(parent) in without.problem


def test_every_temporary_folder_of_the_kernel_is_swept() -> None:
    """Jobs of a worker use `tempfile`, inside the folder of the worker; `clean` empties the cache."""
    package = Path(workbench.__file__).parent
    sources = [path for path in package.rglob("*.py") if "worker" not in path.relative_to(package).parts]
    others = [
        path for path in sources if re.search(r"TemporaryDirectory\((?!.*dir=)", path.read_text("utf-8"))
    ]
    assert others == []
