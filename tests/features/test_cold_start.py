"""Steps of a start by hand, and real starts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import workbench as wb
from tests.features.profile.traces import chain
from workbench.features.cold_start.starts import FEWEST, REPEATS, ColdStartRecord, ProcessStart, are_close


def start(load_s: float) -> ProcessStart:
    return ProcessStart(0.1, 0.2, load_s, 0.03, 0.01, 5, 10, round(100 * load_s), None, None)


def test_load_splits_into_read_optimize_and_prepack() -> None:
    record = ColdStartRecord("A", (start(1.0),) * 3, (start(0.9),) * 3, (start(0.4),) * 3)
    steps = dict(record.steps)
    assert steps["prepack"] == pytest.approx(0.1)
    assert steps["optimize"] == pytest.approx(0.6)
    assert steps["read"] == pytest.approx(0.3)
    assert record.until_first_answer_s == pytest.approx(1.33)
    assert record.to_frame()["run_bytes"].isna().all()
    assert record.first_answer_s("saved_ahead") == pytest.approx(0.73)
    assert dict(record.resident()) == {
        "process start": 5, "import": 10, "load": 100, "first run": None, "steady run": None,
    }  # fmt: skip
    assert (record.prepack_bytes, record.optimize_bytes) == (10, 60)


def test_without_a_saved_graph_optimizing_is_not_known() -> None:
    steps = dict(ColdStartRecord("A", (start(1.0),), (start(1.1),), ()).steps)
    assert steps["optimize"] is None
    assert steps["read"] is None
    assert steps["prepack"] == 0


def test_memory_that_prepacking_freed_is_not_said_to_hold_prepacked_weights() -> None:
    packed = ColdStartRecord("A", (start(1.0),), (start(0.9),), ())
    freed = ColdStartRecord("A", (start(0.9),), (start(1.0),), ())
    assert ("prepacked" in str(packed), "prepacked" in str(freed)) == (True, False)


@pytest.mark.parametrize(("load_s", "close"), [(1.1, True), (2.0, False)])
def test_starts_that_agree_need_no_third(load_s: float, close: bool) -> None:
    assert are_close((start(1.0), start(load_s))) is close


@pytest.mark.real
def test_real_starts_of_three_kinds(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(chain(2).SerializeToString())
    inputs = {"x": np.ones((2, 16), np.float32)}
    record = wb.cold_start(path, wb.Config(intra_op_threads=1), inputs=inputs).record
    frame = record.to_frame()
    assert frame["start"].tolist() == ["as_asked", "without_prepacking", "saved_ahead"]
    (count,) = {len(starts) for starts in (record.as_asked, record.without_prepacking, record.saved_ahead)}
    assert FEWEST <= count <= REPEATS
    times = ["process_s", "import_s", "load_s", "first_run_s", "steady_s"]
    assert (frame[times] > 0).all().all()
    sizes = ["bare_bytes", "import_bytes", "load_bytes", "run_bytes", "steady_bytes"]
    assert (frame[sizes].astype(float).diff(axis=1).iloc[:, 1:3] > 0).all().all()  # import and load take some
    assert "pre-optimized graph" in str(record)
    assert record.until_first_answer_s > record.load_s
