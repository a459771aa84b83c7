"""The arena as ORT tells it, and liveness counted by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.features.profile.traces import chain, trace_of
from workbench.core.config import Config
from workbench.features.profile.calls import read_profile
from workbench.features.profile.memory.by_node import memory_of
from workbench.features.profile.running import Execution, profile_execution

FEED = {"x": np.ones((64, 16), np.float32)}
TENSOR = 64 * 16 * 4


@pytest.mark.real
def test_node_allocations_show_without_the_memory_pattern(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(chain(3).SerializeToString())
    execution = Execution(
        path, Config(intra_op_threads=1), [FEED], max_runs=3, budget_s=0.2, per_node_memory=True
    )
    memory = memory_of(profile_execution(execution))
    assert [node.node for node in memory.nodes][:2] == ["/layer.0/MatMul", "/layer.0/act/Sigmoid"]
    assert memory.nodes[0].allocated_bytes == TENSOR
    assert memory.nodes[0].temporary_bytes == 0
    assert memory.weights_bytes == 3 * 16 * 16 * 4
    assert {node.live_bytes for node in memory.nodes} == {TENSOR, 2 * TENSOR}
    assert memory.peak_live_bytes == 2 * TENSOR
    assert (memory.arena_held_bytes or 0) >= (memory.arena_peak_bytes or 0) >= TENSOR
    assert "weights 0.0 MiB" in str(memory)


@pytest.mark.real
def test_without_the_arena_and_the_graph_all_is_absent_not_zero(tmp_path: Path) -> None:
    memory = memory_of(read_profile(trace_of(chain(2), tmp_path, FEED, enable_cpu_mem_arena=False)))
    assert len(memory.nodes) == 4
    assert memory.arena_peak_bytes is None
    assert memory.weights_bytes is None
    assert memory.peak_live_bytes is None
    frame = memory.to_frame()
    assert frame["allocated_bytes"].isna().all()
    assert frame["live_bytes"].isna().all()
    assert (frame["output_bytes"] == TENSOR).all()
