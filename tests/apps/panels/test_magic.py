"""`%%workbench`: the panels on the sessions of a cell."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import onnxruntime as ort
import pytest
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

import workbench as wb
from tests.apps.panels.conftest import settle
from workbench.apps.panels import magic
from workbench.core.caught.record import CaughtSession

pytestmark = [pytest.mark.real, pytest.mark.usefixtures("own_home")]
MADE = """
import numpy as np, onnxruntime as ort
options = ort.SessionOptions()
options.intra_op_num_threads = 1
session = ort.InferenceSession(path, options)
"""
RUN = MADE + "session.run(None, {session.get_inputs()[0].name: np.full((1, 4), 3, np.float32)});"


@pytest.fixture
def shell(model: Path) -> Iterator[Any]:
    made = InteractiveShell.instance()
    made.run_line_magic("load_ext", "workbench")
    made.user_ns["path"] = str(model)
    yield made
    InteractiveShell.clear_instance()


def run(shell: Any, cell: str) -> tuple[Any, str]:
    with capture_output() as captured:
        bench = shell.run_cell_magic("workbench", "", cell)
    return bench, captured.stdout


def test_the_bench_has_the_cells_model_config_and_inputs(shell: Any, model: Path) -> None:
    before = ort.InferenceSession.__init__
    bench, printed = run(shell, RUN)
    settle(bench)
    config = wb.Config(intra_op_threads=1)
    assert (bench.a, bench.b) == (config, config)
    assert bench.state.model.path == model
    (feed,) = bench.state.request().subject.inputs().feeds
    assert [array.tolist() for array in feed.values()] == [[[3.0] * 4]]
    assert "1 run, 1 feed kept" in printed
    assert ort.InferenceSession.__init__ is before
    assert "session" in shell.user_ns
    bench.state.budget_s = 0.2
    bench.compare(wait=True)
    assert bench.result.runs[0].config == config


def test_several_sessions_have_a_list(shell: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = []
    monkeypatch.setattr(magic, "chooser", lambda *given: shown.append(chooser(*given)) or shown[0])
    bench, printed = run(shell, RUN + "\nother = ort.InferenceSession(path)")
    settle(bench)
    assert "it never ran, so its inputs are guessed" in printed
    assert bench.a.intra_op_threads == 1
    assert bench.state.data
    (listed,) = shown
    listed.value = 1
    settle(bench)
    assert bench.a == wb.Config()
    assert not bench.state.data
    assert bench.state.model is not None


chooser = magic.chooser


def test_a_cell_that_fails_is_restored_and_fails(shell: Any) -> None:
    before = ort.InferenceSession.run
    with capture_output() as captured, pytest.raises(UsageError, match="The cell failed"):
        shell.run_cell_magic("workbench", "", RUN + "\n1 / 0")
    assert ort.InferenceSession.run is before
    assert "ZeroDivisionError" in captured.stdout
    assert len(captured.outputs) == 1


def test_a_cell_without_a_session_says_so(shell: Any) -> None:
    bench, printed = run(shell, "1 + 1")
    assert bench is None
    assert magic.NONE in printed
    with pytest.raises(UsageError, match="no arguments"):
        shell.run_cell_magic("workbench", "bench", "1 + 1")


def test_nothing_of_another_session_is_left(bench: wb.Workbench, tmp_path: Path) -> None:
    state, gone = bench.state, str(tmp_path / "gone.onnx")
    state.duplicate("B")
    state.calibration = "examples.npz"
    magic.show(bench, CaughtSession(gone, wb.Config(), None, 1, 0))
    assert "gone.onnx does not exist" in str(state.model_error)
    assert (len(state.configs), state.calibration) == (2, "")
    magic.show(bench, CaughtSession(None, wb.Config(), None, 1, 0))
    assert state.model_error is None
