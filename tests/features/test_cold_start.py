"""Steps of a start by hand, and real starts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import workbench as wb
from tests.features.profile.traces import chain
from workbench.core.errors import BundleError
from workbench.features.cold_start import FEWEST, REPEATS, are_close, cold_start_chart
from workbench.features.cold_start.record import ColdStartRecord, GraphInCache, ProcessStart, check_starts


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
    assert record.prepack_bytes == 10


def test_without_a_saved_graph_optimizing_is_not_known() -> None:
    steps = dict(ColdStartRecord("A", (start(1.0),), (start(1.1),), ()).steps)
    assert steps["optimize"] is None
    assert steps["read"] is None
    assert steps["prepack"] == 0


def test_loading_is_part_of_the_whole_where_the_graph_cannot_be_saved() -> None:
    (row,) = cold_start_chart({"A": ColdStartRecord("A", (start(1.0),), (start(0.9),), ())}).rows
    times, _ = row.values
    assert [value.value for value in times] == pytest.approx([100, 200, 900, 100, 30])
    assert row.totals[0] == "1,330 ms"


def test_memory_that_prepacking_freed_is_not_said_to_hold_prepacked_weights() -> None:
    packed = ColdStartRecord("A", (start(1.0),), (start(0.9),), ())
    freed = ColdStartRecord("A", (start(0.9),), (start(1.0),), ())
    assert ("prepacked" in str(packed), "prepacked" in str(freed)) == (True, False)


def with_saved(*without_s: float, hit: bool = True) -> ColdStartRecord:
    """Return starts that load their compiled graph in 1 to 1.1 s, and others that take so long without it."""
    saved = GraphInCache("compiled", hit, 3.2)
    return ColdStartRecord(
        "A", (start(1.0), start(1.1)), (start(1.0),), (), tuple(map(start, without_s)), saved
    )


def test_a_saved_graph_says_hit_or_miss_and_what_it_saves() -> None:
    hit, miss = with_saved(2.0, 2.1), with_saved(2.0, 2.1, hit=False)
    assert hit.saves_s == pytest.approx(1.0)
    assert "its compiled graph (a hit in the cache, made before in 3,200 ms) saves 1000 ms of a start" in str(
        hit
    )
    assert "its compiled graph (a miss in the cache, made now in 3,200 ms)" in str(miss)
    assert "costs 950 ms of a start" in str(with_saved(0.1))
    assert "no difference beyond the noise" in str(with_saved(1.05, 1.2))
    frame = hit.to_frame().set_index("start")
    assert frame.loc["as_asked", "saved_graph"] == "hit"
    assert frame.loc["as_asked", "saves_s"] == pytest.approx(1.0)
    assert frame.loc["without_saving", "load_s"] == pytest.approx(2.05)
    labels = [row.label for row in cold_start_chart({"A": hit}).rows]
    assert labels == ["A, compiled", "A, saved graph left out"]
    assert dict(hit.steps)["read"] == pytest.approx(1.0)


def test_what_was_not_measured_saves_nothing_known() -> None:
    unmeasured = with_saved()
    assert unmeasured.saves_s is None
    assert "saves what was not measured" in str(unmeasured)
    plain = ColdStartRecord("A", (start(1.0),), (start(1.0),), (start(0.4),))
    assert plain.saves_s is None
    assert plain.to_frame()["saved_graph"].isna().all()
    with pytest.raises(BundleError, match="no graph is saved"):
        check_starts(ColdStartRecord("A", (start(1.0),), (start(1.0),), (), (start(1.0),)), "")


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


@pytest.mark.slow
@pytest.mark.real
@pytest.mark.usefixtures("own_home")
def test_a_real_saved_graph_is_made_once_and_measured_without(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(chain(2).SerializeToString())
    config = wb.Config(intra_op_threads=1, saved_graph="onnx")
    for hit in (False, True):
        record = wb.cold_start(path, config, inputs={"x": np.ones((2, 16), np.float32)}).record
        assert record.saved is not None
        assert (record.saved.words, record.saved.hit) == ("pre-optimized", hit)
        assert record.saves_s is not None
        assert len(record.without_saving) == len(record.as_asked)
        assert record.saved_ahead == ()
