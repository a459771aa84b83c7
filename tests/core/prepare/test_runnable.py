"""What a worker is given for one config."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import workbench as wb
from workbench.core.prepare.runnable import make_runnable


def test_a_config_that_leaves_the_file_alone_gives_the_model_and_the_feeds_themselves() -> None:
    model = wb.load("digits-conv")
    feeds = model.inputs().feeds
    config = wb.Config(level="basic")
    runnable = make_runnable(model, config, feeds)
    assert runnable.model is model
    assert runnable.feeds is feeds
    assert runnable.config == config


@pytest.mark.real
@pytest.mark.usefixtures("own_home")
def test_feeds_are_cast_to_the_types_of_the_prepared_file() -> None:
    model = wb.load("digits-conv")
    steps: list[str] = []
    config = wb.Config(precision=wb.Float16(keep_io=False), level="basic")
    runnable = make_runnable(model, config, model.inputs().feeds, on_step=steps.append)
    assert steps == ["float16"]
    assert runnable.config == wb.Config(level="basic")
    assert {value.dtype for feed in runnable.feeds for value in feed.values()} == {np.dtype(np.float16)}


@pytest.mark.real
@pytest.mark.usefixtures("own_home")
def test_the_calibration_data_reach_the_file() -> None:
    model = wb.load("digits-conv")
    feeds = model.inputs().feeds
    config = wb.Config(precision=wb.StaticInt8(samples=2))
    files = {
        make_runnable(model, config, feeds, calibration=calibration).model.sha256
        for calibration in (None, "random")
    }
    assert len(files) == 2


@pytest.mark.real
@pytest.mark.usefixtures("own_home")
def test_an_input_that_a_rewrite_dropped_is_not_fed(tmp_path: Path) -> None:
    inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", 4]) for name in ("x", "unread")]
    output = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 4])
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", inputs, [output])
    onnx.save(helper.make_model(graph, ir_version=8), tmp_path / "model.onnx")
    model = wb.load(tmp_path / "model.onnx")
    feeds = model.inputs().feeds
    assert {*feeds[0]} == {"x", "unread"}
    assert make_runnable(model, wb.Config(), feeds).feeds is feeds
    runnable = make_runnable(model, wb.Config(rewrites=("onnxslim",)), feeds)
    assert [{*feed} for feed in runnable.feeds] == [{"x"}]
