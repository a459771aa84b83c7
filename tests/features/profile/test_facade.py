"""The public names, on a real model file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from onnx import helper

import workbench as wb
from tests.features.profile.traces import chain, looped, make, value
from workbench.core.errors import BundleError, RunFailed
from workbench.features.cold_start import FEWEST, REPEATS, cold_start
from workbench.features.profile.roofline.node_limits import roofline
from workbench.features.profile.roofline.peaks import PeakRow
from workbench.features.variants.threads import threads


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "chain.onnx"
    path.write_bytes(chain(2).SerializeToString())
    return path


@pytest.mark.real
def test_profile_opens_the_model_makes_inputs_and_keeps_the_trace(model: Path, tmp_path: Path) -> None:
    made = wb.profile(model, wb.Config(intra_op_threads=1), budget_s=0.1, keep_trace=tmp_path / "kept.json")
    assert isinstance(made, wb.Profile)
    assert set(made.to_frame()["scope"]) == {"/layer.0", "/layer.0/act", "/layer.1", "/layer.1/act"}
    kept = wb.read_profile(tmp_path / "kept.json", warmup_runs=3)
    pd.testing.assert_frame_equal(kept.scaled_to(made.run_s).to_frame(), made.to_frame())


def test_a_trace_that_could_not_be_kept_is_refused_before_the_model_runs(model: Path, tmp_path: Path) -> None:
    with pytest.raises(BundleError, match="Make the folder first"):
        wb.profile(model, keep_trace=tmp_path / "none" / "kept.json")


@pytest.mark.real
def test_a_model_that_fails_when_run_is_told_as_everywhere(tmp_path: Path) -> None:
    nodes = [helper.make_node("Reshape", ["x", "to"], ["y"], "impossible")]
    failing = make(nodes, [value("x", ["n", 3])], [value("y", None)], {"to": np.array([7], np.int64)})
    path = tmp_path / "failing.onnx"
    path.write_bytes(failing.SerializeToString())
    with pytest.raises(RunFailed, match="impossible"):
        wb.profile(path, budget_s=0.1)


@pytest.mark.real
def test_subgraphs_have_costs_and_limits_too(tmp_path: Path) -> None:
    path = tmp_path / "looped.onnx"
    path.write_bytes(looped(3).SerializeToString())
    limits = roofline(
        wb.profile(path, wb.Config(intra_op_threads=1), budget_s=0.1), PeakRow(1, 1e11, 4e11, 1e10)
    )
    by_name = {node.node: node for node in limits.nodes}
    assert by_name["body_matmul"].calls_per_run == 3
    assert by_name["body_matmul"].flops == 2 * 8 * 8 * 8
    assert by_name["loop"].limit_s is None
    assert limits.limit_s <= limits.run_s


@pytest.mark.slow
@pytest.mark.real
def test_cold_starts_carry_the_labels_of_a_comparison(model: Path) -> None:
    (only,) = cold_start(model, wb.Config(intra_op_threads=1)).starts
    assert only.label == "A"
    assert len(only.as_asked) == len(only.saved_ahead) in (FEWEST, REPEATS)


@pytest.mark.real
def test_threads_measures_each_count_with_and_without_spinning(model: Path) -> None:
    frame = threads(model, most_threads=2, budget_s=1.0).to_frame()
    assert frame[["threads", "spinning"]].to_numpy().tolist() == [
        [1, True],
        [2, True],
        [1, False],
        [2, False],
    ]
    assert (frame["latency_s"] > 0).all()
    assert (frame["cpu_s"] > 0).all()
