"""Limits from known peaks, and peaks measured for real."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from tests.features.profile.traces import chain, make, trace_of, value
from workbench.core.config import Config
from workbench.core.errors import ProfileError
from workbench.features.profile.calls import read_profile
from workbench.features.profile.flops.shapes import Cost
from workbench.features.profile.roofline import node_limits
from workbench.features.profile.roofline.node_limits import (
    NodeLimit,
    RooflineRecord,
    costs_of_profile,
    limit_of,
    measured_roofline,
    roofline,
)
from workbench.features.profile.roofline.peaks import PeakRow, PeakTable, Timing, measure_peaks
from workbench.features.profile.running import Execution, profile_execution

PEAKS = PeakRow(1, 100e9, 400e9, 10e9)
FEED = {"x": np.ones((4, 16), np.float32)}


def test_the_slower_side_binds_and_int8_has_its_own_peak() -> None:
    assert limit_of("MatMul", Cost(None, 10**9, 1000), PEAKS) == (pytest.approx(0.01), "compute")
    assert limit_of("Relu", Cost(None, 1000, 10**8), PEAKS) == (pytest.approx(0.01), "memory")
    assert limit_of("MatMulInteger", Cost(None, 10**9, 1000), PEAKS) == (pytest.approx(0.0025), "compute")


def test_a_limit_needs_both_sides() -> None:
    assert limit_of("MatMul", Cost(None, None, 10), PEAKS) == (None, None)
    assert limit_of("MatMul", Cost(None, 10, None), PEAKS) == (None, None)
    assert limit_of("MatMulInteger", Cost(None, 10, 10), PeakRow(1, 1.0, None, 1.0)) == (None, None)


@pytest.mark.real
def test_a_trace_alone_has_no_costs(tmp_path: Path) -> None:
    with pytest.raises(ProfileError, match=r"wb\.profile"):
        roofline(read_profile(trace_of(chain(), tmp_path, FEED)), PEAKS)


def limited(op_type: str, time_s: float, limit_s: float, bound: str = "compute") -> NodeLimit:
    return NodeLimit("n", op_type, 1.0, time_s, 10**9, 10**6, limit_s, bound)  # type: ignore[arg-type]


def test_a_node_faster_than_the_peaks_makes_them_doubtful_and_its_gain_unknown() -> None:
    nodes = (limited("Conv", 1e-3, 1.8e-3), limited("MatMul", 2e-3, 1e-3), limited("Gemm", 1e-3, 1.02e-3))
    record = RooflineRecord(nodes, PEAKS, 4e-3)
    assert record.beyond_peaks == nodes[:1]
    assert record.to_frame()["could_gain_s"].isna().tolist() == [False, True, False]
    (doubt,) = record.doubts
    assert "1 node ran faster than the measured peaks (Conv at 180 %)" in doubt
    assert f"doubtful: {doubt}" in str(record)


def test_data_in_a_cache_is_no_contradiction() -> None:
    record = RooflineRecord((limited("Relu", 1e-3, 3e-3, "memory"),), PEAKS, 1e-3)
    assert record.doubts == ()
    assert record.nodes[0].could_gain_s == 0.0


def test_peaks_that_nodes_contradict_are_measured_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def at(_: object, peaks: PeakRow) -> RooflineRecord:
        limit_s = 1e8 / (peaks.float32_flops or 1.0)
        return RooflineRecord((limited("Conv", 1e-3, limit_s),), peaks, 1e-3)

    monkeypatch.setattr(node_limits, "roofline", at)
    rows = [PeakRow(1, 50e9, 400e9, 10e9, 1.5), PeakRow(1, 120e9, 300e9, 10e9)]
    record = measured_roofline(None, lambda _: rows.pop(0))  # type: ignore[arg-type]
    assert record.peaks == PeakRow(1, 120e9, 400e9, 10e9)
    assert record.doubts == ()
    rows = [PeakRow(1, 120e9, 400e9, 10e9)]
    assert measured_roofline(None, lambda _: rows.pop(0)).doubts == ()  # type: ignore[arg-type]


@pytest.mark.real
def test_nodes_of_a_real_profile_join_their_costs(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(chain(layers=3).SerializeToString())
    profile = profile_execution(Execution(path, Config(intra_op_threads=1), [FEED], max_runs=5, budget_s=0.2))
    assert costs_of_profile(profile).macs == 3 * 4 * 16 * 16
    record = roofline(profile, PEAKS)
    assert len(record.nodes) == 6
    assert record.unknown == ()
    assert 0 < record.limit_s < record.run_s
    frame = record.to_frame()
    assert (frame["achieved"] > 0).all()
    assert frame["time_s"].is_monotonic_decreasing


@pytest.mark.real
def test_a_branch_that_did_not_run_has_no_shapes_of_the_one_that_did(tmp_path: Path) -> None:
    branches = {
        f"{side}_branch": helper.make_graph(
            [helper.make_node("MatMul", ["x", "w"], ["y"], f"/{side}/MatMul")], side, [],
            [value("y", ["n", columns])],
            [numpy_helper.from_array(np.ones((16, columns), np.float32), "w")],
        )
        for side, columns in (("then", 16), ("else", 32))
    }  # fmt: skip
    model = make(
        [helper.make_node("If", ["c"], ["z"], "/If", **branches)],
        [value("x", ["n", 16]), value("c", [], TensorProto.BOOL)], [value("z", None)],
    )  # fmt: skip
    path = tmp_path / "model.onnx"
    path.write_bytes(model.SerializeToString())
    feed = FEED | {"c": np.array(True)}
    profile = profile_execution(Execution(path, Config(intra_op_threads=1), [feed], max_runs=5, budget_s=0.2))
    macs = {node.node: node.cost.macs for node in costs_of_profile(profile).nodes}
    assert macs["/then/MatMul"] == len(FEED["x"]) * 16 * 16
    assert macs["/else/MatMul"] is None


def measured_by(timings: list[Timing]) -> PeakRow:
    """Peaks of one thread from these timings, in their order."""
    table = measure_peaks((1,), side=8, pass_elements=64, time_model=lambda *_: timings.pop(0), attempts=3)
    assert not timings
    return table.rows[0]


def test_a_disturbed_measurement_is_made_again_until_the_machine_is_quiet() -> None:
    busy, quiet = Timing(2e-6, 1.5, disturbed=True), Timing(1e-6, 0.0, disturbed=False)
    row = measured_by([busy, quiet, quiet, busy, busy, quiet])
    assert (row.float32_flops, row.doubt) == (pytest.approx(2 * 8**3 / 1e-6), None)


def test_peaks_of_a_machine_that_never_rests_are_marked() -> None:
    busy, quiet = Timing(2e-6, 1.5, disturbed=True), Timing(1e-6, None, disturbed=False)
    row = measured_by([quiet, busy, busy, Timing(1.5e-6, 0.8, disturbed=True), quiet])
    assert row.int8_flops == pytest.approx(2 * 8**3 / 1.5e-6)
    assert row.others_cores == 0.8
    assert "other processes used 0.8 cores" in str(row.doubt)
    assert PeakTable((row,)).to_frame().loc[0, "doubt"] == row.doubt
    assert row.best_of(PeakRow(1, 1.0, 1.0, 1.0)).doubt is None


@pytest.mark.real
def test_peaks_are_measured_through_ort() -> None:
    (peaks,) = measure_peaks((1,), side=128, pass_elements=1 << 18, budget_s=0.02, attempts=1).rows
    assert peaks.threads == 1
    assert min(peaks.float32_flops or 0, peaks.int8_flops or 0, peaks.bytes_per_s or 0) > 1e6
