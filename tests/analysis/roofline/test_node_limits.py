"""Limits from known peaks, and peaks measured for real."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.analysis.profile.traces import chain, trace_of
from workbench.analysis.profile.profile import read_profile
from workbench.analysis.profile.running import Execution, profile_execution
from workbench.analysis.roofline.node_limits import costs_of_profile, limit_of, roofline
from workbench.analysis.roofline.peaks import PeakRow, measure_peaks
from workbench.config import Config
from workbench.errors import ProfileError

PEAKS = PeakRow(1, 100e9, 400e9, 10e9)
FEED = {"x": np.ones((4, 16), np.float32)}


def test_the_slower_side_binds_and_int8_has_its_own_peak() -> None:
    assert limit_of("MatMul", 10**9, 1000, PEAKS) == (pytest.approx(0.01), "compute")
    assert limit_of("Relu", 1000, 10**8, PEAKS) == (pytest.approx(0.01), "memory")
    assert limit_of("MatMulInteger", 10**9, 1000, PEAKS) == (pytest.approx(0.0025), "compute")


def test_a_limit_needs_both_sides() -> None:
    assert limit_of("MatMul", None, 10, PEAKS) == (None, None)
    assert limit_of("MatMul", 10, None, PEAKS) == (None, None)
    assert limit_of("MatMulInteger", 10, 10, PeakRow(1, 1.0, None, 1.0)) == (None, None)


def test_a_trace_alone_has_no_costs(tmp_path: Path) -> None:
    with pytest.raises(ProfileError, match=r"wb\.profile"):
        roofline(read_profile(trace_of(chain(), tmp_path, FEED)), PEAKS)


@pytest.mark.real
def test_nodes_of_a_real_profile_join_their_costs(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(chain(layers=3).SerializeToString())
    profile = profile_execution(Execution(path, Config(intra_op_threads=1), [FEED], max_runs=5, budget_s=0.2))
    assert costs_of_profile(profile).macs == 3 * 4 * 16 * 16
    found = roofline(profile, PEAKS)
    assert len(found.nodes) == 6
    assert found.unknown == ()
    assert 0 < found.limit_s < found.run_s
    frame = found.to_frame()
    assert (frame["achieved"] > 0).all()
    assert frame["time_s"].is_monotonic_decreasing


@pytest.mark.real
def test_peaks_are_measured_through_ort() -> None:
    (peaks,) = measure_peaks((1,), side=128, pass_elements=1 << 18, budget_s=0.02).rows
    assert peaks.threads == 1
    assert min(peaks.float32_flops or 0, peaks.int8_flops or 0, peaks.bytes_per_s or 0) > 1e8
