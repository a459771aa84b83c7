"""A worker that needs too much memory is stopped, with the bound in the error; mapped files do not count."""

from __future__ import annotations

import mmap
import os
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper

from tests.core.models import tiny
from tests.core.worker.harness import load_plan
from workbench.core import cgroup
from workbench.core.errors import WorkerError
from workbench.core.worker import memory
from workbench.core.worker.launch import Worker
from workbench.core.worker.values import write_values

MIB = 1 << 20


def ask_for_memory(folder: Path, memory_bytes: int | None) -> None:
    """A model of a few bytes whose output takes 1.5 GiB."""
    node = helper.make_node("ConstantOfShape", ["shape"], ["y"])
    graph = helper.make_graph(
        [node],
        "large",
        [helper.make_tensor_value_info("shape", TensorProto.INT64, [1])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n"])],
    )
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)
    write_values(folder / "feeds", [{"shape": np.array([384 * MIB])}])
    with Worker(folder, name="W", memory_bytes=memory_bytes) as worker:
        worker.hello(timeout_s=60)
        request = {"model": str(tiny.save(proto, folder)), "plan": load_plan()}
        worker.request("load", request, stage="load", timeout_s=60)
        worker.request("first_run", {"feeds": str(folder / "feeds")}, stage="first run", timeout_s=60)


@pytest.mark.real
def test_a_worker_beyond_its_bound_is_stopped_and_the_bound_is_named(tmp_path: Path) -> None:
    with pytest.raises(WorkerError, match="needs more than 600 MiB of memory during first run") as caught:
        ask_for_memory(tmp_path, 600 * MIB)
    assert "wb.Limits(memory_bytes=" in caught.value.fix


@pytest.mark.real
def test_without_a_bound_the_machine_stays_usable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "available_bytes", lambda: memory.reserve_bytes() - 100 * MIB)
    with pytest.raises(WorkerError, match="all that this machine can spare"):
        ask_for_memory(tmp_path, None)


def test_a_small_worker_is_not_blamed_for_a_full_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "available_bytes", lambda: 0)
    monkeypatch.setattr(memory, "held_bytes", lambda _: 100 * MIB)
    assert memory.too_much(1, None) is None
    monkeypatch.setattr(memory, "held_bytes", lambda _: 3000 * MIB)
    assert memory.too_much(1, None) == max(0, 3000 * MIB - memory.reserve_bytes())


def test_a_process_that_has_ended_holds_nothing() -> None:
    assert memory.held_bytes(2**22 + 1) is None
    assert memory.too_much(2**22 + 1, 1) is None


def test_pages_of_a_mapped_file_do_not_count(tmp_path: Path) -> None:
    path = tmp_path / "weights"
    path.write_bytes(bytes(96 * MIB))
    before = memory.held_bytes(os.getpid())
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as pages:
        assert sum(pages[:: mmap.PAGESIZE]) == 0
        after = memory.held_bytes(os.getpid())
    assert before is not None
    assert after is not None
    assert after - before < 16 * MIB


@pytest.mark.parametrize("version", ["v1", "v2"])
def test_the_tightest_group_of_this_process_bounds_what_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str
) -> None:
    most, used = ("max", "current") if version == "v2" else ("limit_in_bytes", "usage_in_bytes")
    job, step = tmp_path / "job", tmp_path / "job" / "step"
    step.mkdir(parents=True)
    for group, limit, usage in ((job, "1000", "900"), (step, "5000", "800")):
        (group / f"memory.{most}").write_text(f"{limit}\n")
        (group / f"memory.{used}").write_text(f"{usage}\n")
        (group / "memory.stat").write_text("anon 500\nactive_file 30\ninactive_file 70\n")
    kind = "cgroup2 cgroup2 rw" if version == "v2" else "cgroup cgroup rw,memory"
    (tmp_path / "mountinfo").write_text(f"30 23 0:26 / {tmp_path} rw,nosuid - {kind}\n")
    (tmp_path / "cgroup").write_text("0::/job/step\n" if version == "v2" else "4:memory:/job/step\n")
    monkeypatch.setattr(cgroup, "PROC", tmp_path)
    assert memory.available_bytes() == 200
    monkeypatch.setattr(memory, "held_bytes", lambda _: MIB)
    assert memory.too_much(1, None) is None
    monkeypatch.setattr(memory, "held_bytes", lambda _: 3000 * MIB)
    assert memory.too_much(1, None) == 3000 * MIB - memory.reserve_bytes() + 200
    (job / f"memory.{most}").write_text("max\n")
    assert memory.available_bytes() == 4300
    (step / f"memory.{most}").write_text("max\n")
    assert memory.available_bytes() > 5000
