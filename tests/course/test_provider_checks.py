"""The exercises on execution providers, and what their lesson draws: right and wrong answers."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest
from onnx import helper

from tests.factories import comparisons, graphs
from workbench import course
from workbench.analysis.graph import read_graph
from workbench.analysis.placement import predict, predict_all
from workbench.config import Config
from workbench.results.comparison import Comparison
from workbench.results.explanation import Explanation

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
    planted = predict(read_graph(course.split_graph()), "coreml")
    assert planted.partitions == 2
    assert [node.op_type for node in planted.nodes if not node.takes] == ["Sum"]
    assert course.check("8.b", rewritten("Add")).passed


def test_other_graphs_are_refused() -> None:
    assert "2 partitions; 'Sum' would stay" in course.check("8.b", course.split_graph()).text
    assert "The outputs differ" in course.check("8.b", rewritten("Mul")).text
    assert "does not compute" in course.check("8.b", rewritten("Conv")).text
    assert "no model" in course.check("8.b", "nowhere.onnx").text
    without = course.split_graph()
    graph = without.graph
    values = helper.make_tensor_value_info("conv_1", onnx.TensorProto.FLOAT, [1, 8, 16, 16])
    del graph.output[:]
    graph.output.append(values)
    assert not course.check("8.b", without).passed


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
    parts = course.predicted_parts(predictions)
    assert len(parts.parts) == len(predictions.all)
    assert "Predicted, nothing ran" in str(parts)
    assert parts.parts[0].share == 1
    assert parts.chart().axes[1].title == "predicted: partitions"
    assert "image/png" in parts._repr_mimebundle_()[0]
    assert parts.figure() is not None
    assert list(parts.to_frame()["partitions"]) == [part.partitions for part in parts.parts]
    assert len(repr(predictions)) < 1000


def test_recorded_gpu_runs_are_read_and_stand_ins_are_not(tmp_path: Path) -> None:
    assert "No recorded GPU run" in str(course.gpu_runs(tmp_path))
    assert "none" in course.gpu_runs(tmp_path)._repr_html_()
    result = Comparison(comparisons.ordinary())
    for name in ("levels.ortbench", "stand-in-levels.ortbench"):
        result.save(tmp_path / name)
    (tmp_path / "broken.ortbench").write_text("no bundle")
    runs = course.gpu_runs(tmp_path)
    assert [run.file for run in runs.runs] == ["broken.ortbench", "levels.ortbench"]
    assert "cannot be opened" in runs.runs[0].text
    assert len(runs.to_frame()) == 2
    assert "levels.ortbench" in runs._repr_html_()


def test_a_predicted_value_is_not_called_measured() -> None:
    outcome = course.predict("Parts?", 3, name="t.parts").against(2, source="predicted, not measured")
    assert "predicted, not measured: 2" in str(outcome)
    assert "measured here" not in outcome._repr_html_()


def test_an_explanation_predicts_from_its_own_graph() -> None:
    assert len(Explanation(graphs.fused()).what_if().all) > 5
