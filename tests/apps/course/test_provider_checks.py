"""The exercises on execution providers, and what their lesson draws: right and wrong answers."""

from __future__ import annotations

import importlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

import workbench as wb
from tests.factories import comparisons, graphs
from workbench.apps import course
from workbench.core.bundle.machine import Gpu
from workbench.core.config import Config
from workbench.core.models.graph_walk import read_graph
from workbench.features.compare.result import Comparison
from workbench.features.explain.placement.prediction import predict_all
from workbench.features.explain.result import Explanation

ENTRIES = {"session.disable_cpu_ep_fallback": "1"}


def test_a_config_that_forbids_the_cpu_is_loud() -> None:
    assert course.check("8.a", Config(providers=["cuda"], session_entries=ENTRIES)).passed


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (Config(providers=["cuda", "cpu"]), "makes a session on the CPU"),
        (Config(providers=["cuda"]), "makes a session on the CPU"),
        (Config(), "does not ask for CUDA"),
        (["CUDAExecutionProvider"], "no wb.Config"),
    ],
)
def test_another_config_falls_back_in_silence(answer: object, words: str) -> None:
    assert words in course.check("8.a", answer).text


def rewritten(op_type: str) -> onnx.ModelProto:
    model = course.split_graph()
    node = next(node for node in model.graph.node if node.op_type == "Sum")
    node.op_type = op_type
    return model


def test_the_planted_graph_is_split_and_an_add_joins_it() -> None:
    planted = wb.Explanation.predict(course.split_graph(), "coreml")
    assert planted.partitions == 2
    assert [node.op_type for node in planted.nodes if not node.takes] == ["Sum"]
    assert course.check("8.b", rewritten("Add")).passed


def test_other_graphs_are_refused() -> None:
    as_it_is = course.check("8.b", course.split_graph())
    assert (as_it_is.correct, as_it_is.within_budget) == (True, False)
    assert "2 partitions; 'Sum' would stay" in as_it_is.text
    assert "The outputs differ" in course.check("8.b", rewritten("Mul")).text
    assert "The outputs differ" in course.check("8.b", without_numbers()).text
    assert "does not compute" in course.check("8.b", rewritten("Conv")).text
    assert "no model" in course.check("8.b", "nowhere.onnx").text
    without = course.split_graph()
    graph = without.graph
    values = helper.make_tensor_value_info("conv_1", onnx.TensorProto.FLOAT, [1, 8, 16, 16])
    del graph.output[:]
    graph.output.append(values)
    assert not course.check("8.b", without).passed


def without_numbers() -> onnx.ModelProto:
    """Return a joined graph whose outputs are not a number."""
    model = rewritten("Add")
    weight = next(tensor for tensor in model.graph.initializer if tensor.name == "weight_4")
    weight.CopyFrom(numpy_helper.from_array(np.full(tuple(weight.dims), np.nan, np.float32), weight.name))
    return model


def test_the_options_that_repeat_the_default_are_wanted() -> None:
    right = ["device_id", "cudnn_conv_algo_search", "do_copy_in_default_stream"]
    assert "1 more of them" in course.check("8.c", right).text
    right.append("cudnn_conv_use_max_workspace")
    assert course.check("8.c", right).passed
    assert "gpu_mem_limit is not what" in course.check("8.c", [*right, "gpu_mem_limit"]).text
    assert "no CUDA option 'x'" in course.check("8.c", ["x"]).text
    assert "no list" in course.check("8.c", 4).text


def test_the_catalogue_agrees_with_the_article_table_about_defaults() -> None:
    table = course.option_defaults("cuda").set_index("option")["default"]
    assert table["cudnn_conv_algo_search"] == "EXHAUSTIVE"
    assert table["do_copy_in_default_stream"] == table["cudnn_conv_use_max_workspace"] == "1"


def test_predictions_are_drawn_by_share_and_partitions() -> None:
    predictions = predict_all(read_graph(course.split_graph()))
    parts = predictions.parts()
    frame = parts.to_frame()
    assert len(frame) == len(parts.chart().rows) == len(predictions.all)
    assert "Predicted, nothing ran" in str(parts)
    assert frame.node_share[0] == 1
    assert parts.chart().axes[1].title == "predicted: partitions"
    assert "image/png" in parts._repr_mimebundle_()[0]
    assert parts.figure() is not None
    counts = {row.name: row.partitions for row in predictions.all}
    assert dict(zip(frame.predicted_for, frame.partitions, strict=True)) == counts
    assert len(repr(predictions)) < 1000


@pytest.fixture
def nothing_shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = importlib.import_module(
        "workbench.apps.course.gpu_runs"
    )  # the package has a function of this name
    monkeypatch.setattr(module, "SHIPPED", tmp_path / "shipped")


def save_run(file: Path, *gpus: str) -> None:
    record = comparisons.ordinary()
    machine = replace(record.machine, gpus=tuple(Gpu(name, None, None) for name in gpus))
    file.parent.mkdir(exist_ok=True)
    Comparison(replace(record, machine=machine)).save(file)


@pytest.mark.usefixtures("nothing_shipped")
def test_without_a_recording_the_lesson_says_how_to_make_one(tmp_path: Path) -> None:
    runs = course.gpu_runs(tmp_path)
    assert str(runs).startswith("No recorded GPU run")
    assert "benchmarks.gpu" in str(runs)
    assert "none" in runs._repr_html_()


@pytest.mark.usefixtures("nothing_shipped")
def test_stand_ins_are_called_so_from_their_records(tmp_path: Path) -> None:
    save_run(tmp_path / "stand-in-cuda.ortbench")
    save_run(tmp_path / "shipped" / "stand-in-levels.ortbench")
    save_run(tmp_path / "shipped" / "digits-conv-cpu.ortbench")
    runs = course.gpu_runs(tmp_path)
    assert [run.file for run in runs.runs] == ["stand-in-cuda.ortbench", "stand-in-levels.ortbench"]
    cpu = comparisons.ordinary().machine.cpu
    for part in ("These are 2 stand-ins", "name no GPU", f"the processor {cpu}", "no figure in them"):
        assert part in runs.headline()
        assert part in runs._repr_html_()
    assert set(runs.to_frame()["gpu"]) == {"none"}


@pytest.mark.usefixtures("nothing_shipped")
def test_runs_of_a_gpu_take_the_place_of_stand_ins(tmp_path: Path) -> None:
    save_run(tmp_path / "shipped" / "stand-in-cuda.ortbench")
    save_run(tmp_path / "shipped" / "cuda.ortbench", "NVIDIA H200")
    save_run(tmp_path / "levels.ortbench", "NVIDIA H100")
    save_run(tmp_path / "stand-in-levels.ortbench", "NVIDIA H100")
    (tmp_path / "broken.ortbench").write_text("no bundle")
    runs = course.gpu_runs(tmp_path)
    assert [run.file for run in runs.runs] == ["broken.ortbench", "levels.ortbench", "cuda.ortbench"]
    assert runs.headline() == "2 runs recorded on NVIDIA H100, NVIDIA H200."
    assert "cannot be opened" in runs.runs[0].text
    assert list(runs.to_frame()["gpu"]) == ["not known", "NVIDIA H100", "NVIDIA H200"]
    assert "levels.ortbench" in runs._repr_html_()
    assert "stand-in" not in str(runs)


def test_what_is_shipped_is_of_stand_ins_until_somebody_records_a_gpu(tmp_path: Path) -> None:
    runs = course.gpu_runs(tmp_path).runs
    assert runs
    assert all(run.cpu and run.ran_on != "not known" for run in runs)
    assert all(run.on_gpu for run in runs) or all(run.is_stand_in and run.gpu == "none" for run in runs)


def test_a_predicted_value_is_not_called_measured() -> None:
    outcome = course.predict("Parts?", 3, name="t.parts").against(2, source="predicted, not measured")
    assert "predicted, not measured: 2" in str(outcome)
    assert "measured here" not in outcome._repr_html_()


def test_an_explanation_predicts_from_its_own_graph() -> None:
    assert len(Explanation(graphs.fused()).what_if().all) > 5
