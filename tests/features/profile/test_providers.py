"""Traces of providers and versions that are not at hand: read, nested, counted and drawn."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import helper

import workbench as wb
from tests.features.profile.devices import (
    COMPILED,
    CPU,
    CUDA,
    around,
    call,
    compiled_run,
    cuda_run,
    cuda_trace,
    kernel,
    loading,
    old_run,
)
from tests.features.profile.test_tree import adds_up
from tests.features.profile.traces import event, make, value, write
from workbench.features.profile.flame.frames import FrameKind as Box
from workbench.features.profile.flame.view import FlameView, flame_view
from workbench.features.profile.roofline.peaks import PeakRow
from workbench.features.profile.trace import EventKind, node_name
from workbench.features.profile.tree import NO_PARENT

pytestmark = pytest.mark.usefixtures("coarse")

PEAKS = PeakRow(threads=1, float32_flops=1e10, int8_flops=4e10, bytes_per_s=1e10)


def read(folder: Path, events: list[dict[str, Any]], warmup_runs: int = 0) -> wb.Profile:
    return wb.read_profile(write(folder, events), warmup_runs=warmup_runs)


def launched(profile: wb.Profile) -> list[tuple[str, str | None, int]]:
    """Each kernel, the node whose call launched it, and its run."""
    tree, trace = profile.tree, profile.trace
    rows = []
    for event_number in np.flatnonzero(tree.kind == EventKind.KERNEL).tolist():
        owner = int(tree.parent[event_number])
        node = None if owner == NO_PARENT else node_name(trace.name_of(owner))
        rows.append((trace.name_of(event_number).split("(")[0], node, int(tree.run[event_number])))
    return rows


def everything_works(profile: wb.Profile) -> FlameView:
    """Tables add up; what else a profile is asked for comes without an error."""
    adds_up(profile.trace, profile.tree)
    for table in (profile.by("op_type"), profile.by("provider"), profile.by("thread"), profile.by("node")):
        assert table["self_s"].sum() == pytest.approx(profile.run_s)
    assert str(profile)
    assert str(profile.memory())
    with pytest.raises(wb.WorkbenchError, match="holds no graph"):
        profile.roofline(PEAKS)
    assert str(profile.sharing())
    assert profile.variation() is not None
    view = flame_view(profile)
    assert view.still().to_png().startswith(b"\x89PNG")
    return view


@pytest.mark.parametrize("named", [True, False], ids=["newer", "older"])
def test_cuda_kernels_belong_to_the_node_that_launched_them(tmp_path: Path, named: bool) -> None:
    profile = read(tmp_path, cuda_trace(named=named))
    everything_works(profile)
    of_one_run = [
        ("MemcpyHostToDevice", "Memcpy_token_0"),
        ("void cudnn::nchwToNhwcKernel<float>", "conv_a"),
        ("sm80_xmma_fprop_implicit_gemm", "conv_a"),
        ("sm80_xmma_fprop_implicit_gemm", "conv_b"),
        ("MemcpyDeviceToHost", "Memcpy_token_1"),
    ]
    assert launched(profile) == [(*row, run) for run in range(3) for row in of_one_run]


def test_cuda_kernels_take_no_part_of_the_tables(tmp_path: Path) -> None:
    profile = read(tmp_path, cuda_trace())
    by_provider = profile.by("provider").set_index("provider")
    assert by_provider.loc[CUDA, "self_s"] == pytest.approx(156e-6)
    assert by_provider.loc[CPU, "self_s"] == pytest.approx(4e-6)
    assert "sm80_xmma_fprop_implicit_gemm" not in set(profile.by("node")["node"])
    assert profile.to_frame().set_index("node").loc["conv_a", "op_type"] == "Conv"


def test_the_peaks_of_the_processor_bind_no_node_of_a_device(tmp_path: Path) -> None:
    """The time of a node on CUDA is that of its launch, which no share of a peak could mean."""
    inputs, outputs = [value("x", [1, 4])], [value("y", [1, 4])]
    graph = make(
        [
            helper.make_node("Relu", ["x"], ["r"], "on_cuda"),
            helper.make_node("Relu", ["r"], ["y"], "on_cpu"),
        ],
        inputs, outputs,
    )  # fmt: skip
    nodes = [call("on_cuda", 2_010, 30, "Relu", CUDA), call("on_cpu", 2_050, 9, "Relu", CPU)]
    profile = read(tmp_path, around(nodes, 2_000))
    bound = profile.with_trace(profile.trace, graph, {}).roofline(PEAKS)
    limits = {kernel.node: kernel.limit_s for kernel in bound.record.nodes}
    assert limits["on_cuda"] is None
    assert limits["on_cpu"] == pytest.approx(32 / PEAKS.bytes_per_s)
    assert "1 node without a known limit" in str(bound)


def test_the_flame_view_has_a_kernel_level_and_a_lane_a_stream(tmp_path: Path) -> None:
    view = everything_works(read(tmp_path, cuda_trace()))
    _, device = view.picture_of("module").panes
    kernels = [device.frames.path(row)[1:] for row, _, kind in device.frames.rows() if kind == Box.KERNEL]
    assert ("conv_a", "Conv", "sm80_xmma_fprop_implicit_gemm") in kernels
    assert device.frames.width_s[0] == pytest.approx((9 + 5 + 60 + 70 + 45) / 1e6)
    lanes = view.picture_of("time").panes
    assert [lane.title for lane in lanes] == ["run, thread 1", "run, device queue 1", "run, device queue 2"]
    assert [lane.note.split(":")[0] for lane in lanes[1:]] == ["stream 14", "stream 7"]
    for lane in lanes[1:]:
        order = np.argsort(lane.frames.start_s)
        starts, ends = lane.frames.start_s[order], (lane.frames.start_s + lane.frames.width_s)[order]
        assert (starts[1:] >= ends[:-1] - 1e-9).all()  # one after the other
        assert set(lane.frames.depth) == {0}
        assert {lane.frames.text(op) for op in lane.frames.op} <= {"Conv", "MemcpyFromHost", "MemcpyToHost"}


def test_a_kernel_without_a_node_stands_beside_the_run_before_it(tmp_path: Path) -> None:
    early = kernel("warm", 500, 3, 7)
    lone = kernel("void fill<int>(int*)", 2_100, 3, 7)
    profile = read(tmp_path, [*loading(), early, *cuda_run(2_000), lone, *cuda_run(2_300)])
    assert launched(profile)[0] == ("warm", None, NO_PARENT)
    assert ("void fill<int>", "model_run", 0) in launched(profile)
    device = everything_works(profile).picture_of("operator").panes[1].frames
    paths = [device.path(row)[1:] for row, _, kind in device.rows() if kind == Box.KERNEL]
    assert ("(not told)", "void fill<int>(int*)") in paths


def test_a_kernel_that_names_a_fence_belongs_to_its_node(tmp_path: Path) -> None:
    fence = event("a_fence_after", 2_049, 0, tid=41, op_name="Conv")
    events = [call("a", 2_010, 39, "Conv", CUDA), fence, kernel("k", 2_030, 40, 7, fence)]
    assert launched(read(tmp_path, around(events, 2_000))) == [("k", "a", 0)]


@pytest.mark.parametrize("what", COMPILED)
def test_a_part_that_a_provider_compiled_is_a_node_of_its_own(tmp_path: Path, what: str) -> None:
    name, op, provider = COMPILED[what]
    events = loading()
    for run in range(3):
        events += compiled_run(2_000 + 300 * run, name, op, provider)
    profile = read(tmp_path, events)
    everything_works(profile)
    row = profile.to_frame().set_index("node").loc[name]
    assert (row["op_type"], row["provider"], row["calls"]) == (op, provider, 1)
    assert profile.by("provider").set_index("provider").loc[provider, "self_s"] == pytest.approx(150e-6)


def test_an_engine_of_tensorrt_has_its_kernels(tmp_path: Path) -> None:
    engine = compiled_run(2_000, *COMPILED["tensorrt"])
    launches = [
        kernel(f"generatedNativePointwise_{at}", 2_010 + 20 * at, 15, 7, engine[0]) for at in range(3)
    ]
    profile = read(tmp_path, [engine[0], *launches, *engine[1:]])
    assert {node for _, node, _ in launched(profile)} == {COMPILED["tensorrt"][0]}
    everything_works(profile)


def test_fences_of_older_versions_hold_no_nodes(tmp_path: Path) -> None:
    profile = read(tmp_path, [*old_run(2_000), *old_run(2_400)])
    view = everything_works(profile)
    nodes = profile.to_frame()
    assert sorted(nodes["node"]) == ["a", "b", "c", "d"]
    assert nodes.set_index("node")["self_s"].to_dict() == pytest.approx(
        {"a": 40e-6, "b": 0.0, "c": 0.0, "d": 60e-6}
    )
    tree = profile.tree
    above = {EventKind(tree.kind[parent]) for parent in tree.parent[tree.kind == EventKind.NODE]}
    assert above == {EventKind.EXECUTOR}
    assert profile.by("op_type").set_index("op_type").loc["(fences)", "self_s"] == pytest.approx(3e-6)
    assert "(fences)" in set(view.to_frame("module")["name"])
    assert nodes.set_index("node").loc["a", "provider"] == CPU


def test_calls_into_a_devices_library_are_kept(tmp_path: Path) -> None:
    api = event("hipLaunchKernel", 2_015, 4, "Api", tid=41)
    profile = read(tmp_path, [*cuda_run(2_000), api])
    everything_works(profile)
    assert "Api" in profile.trace.categories
