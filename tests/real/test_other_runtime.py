"""A second provider without a GPU: the OpenVINO build of ONNX Runtime in an environment of its own."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

from workbench.core.config import Config
from workbench.core.models import Model, load
from workbench.features.cold_start import cold_start
from workbench.features.compare.call import compare
from workbench.features.doctor import doctor
from workbench.features.explain.calls import explain as explain_and_run
from workbench.features.explain.explanation import Explained, explain
from workbench.features.profile.calls import profile

pytestmark = [pytest.mark.real, pytest.mark.slow]  # needs a second environment
BLOCKS, CHANNELS, SIZE = 3, 8, 16
OPENVINO, CPU = "OpenVINOExecutionProvider", "CPUExecutionProvider"


def between_convolutions(path: Path) -> Path:
    """Convolutions with a matrix inverse between them, which OpenVINO does not know."""
    draw = np.random.default_rng(0)
    nodes, weights, last = [], [], "x"
    for index in range(BLOCKS):
        kernel = (draw.standard_normal((CHANNELS, CHANNELS, 3, 3)) * 0.1).astype(np.float32)
        weights.append(numpy_helper.from_array(kernel, f"w{index}"))
        nodes.append(
            helper.make_node("Conv", [last, f"w{index}"], [f"c{index}"], f"conv{index}", pads=[1] * 4)
        )
        nodes.append(helper.make_node("Relu", [f"c{index}"], [f"r{index}"], f"relu{index}"))
        last = f"r{index}"
        if index < BLOCKS - 1:
            weights.append(numpy_helper.from_array(np.eye(SIZE, dtype=np.float32) * 3, f"e{index}"))
            nodes.append(helper.make_node("Add", [last, f"e{index}"], [f"a{index}"], f"add{index}"))
            nodes.append(
                helper.make_node(
                    "Inverse", [f"a{index}"], [f"i{index}"], f"inv{index}", domain="com.microsoft"
                )
            )
            last = f"i{index}"
    shape = [1, CHANNELS, SIZE, SIZE]
    values = [helper.make_tensor_value_info(name, 1, shape) for name in ("x", last)]
    graph = helper.make_graph(nodes, "between", values[:1], values[1:], weights)
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    onnx.save(helper.make_model(graph, ir_version=10, opset_imports=opsets), path)
    return path


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return between_convolutions(tmp_path_factory.mktemp("other") / "between.onnx")


@pytest.fixture(scope="module")
def explained(path: Path, openvino: str) -> Explained:
    return explain(Model(path, "between"), Config(runtime=openvino, providers=["openvino"]))


def test_partitions_of_two_providers(explained: Explained) -> None:
    assert dict(explained.placement.counts()) == {OPENVINO: 8, CPU: 2}
    frame = explained.placement.to_frame()
    assert set(frame[frame.provider == CPU].node) == {"inv0", "inv1"}
    assert explained.placement.partitions == 5
    assert [(boundary.tensor, boundary.size_bytes) for boundary in explained.placement.boundaries] == [
        ("a0", 4 * CHANNELS * SIZE * SIZE),
        ("i0", None),
        ("a1", None),
        ("i1", None),
    ]  # ONNX cannot infer past an operator of ORT's own
    # OpenVINO compiles its parts, and ORT cannot save the rest then.
    assert explained.placement.of_basic_graph


def test_every_source_node_is_accounted_for(explained: Explained) -> None:
    account = explained.provenance.account
    assert {source.fate for source in account.sources} == {"kept"}
    assert explained.provenance.untraced == 0


@pytest.mark.usefixtures("own_home")
def test_a_profile_tells_each_compiled_part_apart(path: Path, openvino: str) -> None:
    placement = explain_and_run(
        path, Config(runtime=openvino, providers=["openvino"]), profile=True
    ).placement
    assert placement.unplaced == ()
    assert [part.nodes[0] for part in placement.compiled] == ["conv0", "conv1", "conv2"]
    assert all(part.time_s for part in placement.compiled)
    assert [boundary.size_bytes for boundary in placement.boundaries] == [4 * CHANNELS * SIZE * SIZE] * 4
    assert placement.providers_frame().time_share.sum() == pytest.approx(1)


def test_the_passes_of_an_older_ort_are_not_known(openvino: str) -> None:
    there, here = (explain(load("char-gpt"), config) for config in (Config(runtime=openvino), Config()))
    assert (here.passes.are_known, there.passes.are_known) == (True, False)
    assert "logs no passes" in repr(there.passes)
    assert there.passes.missed == ()
    compiled = explain(load("char-gpt"), Config(runtime=openvino, providers=["openvino"]))
    assert len(compiled.placement.compiled) == 1
    assert len(compiled.placement.compiled[0].nodes) == len(compiled.optimized.nodes)
    assert compiled.passes.missed == ()  # OpenVINO does not tell what it fuses


def test_two_builds_side_by_side(path: Path, openvino: str) -> None:
    there = Config(runtime=openvino, providers=["openvino"])
    result = compare(Model(path, "between"), Config(), there, budget_s=2, progress=False)
    assert [run.providers for run in result.runs] == [(CPU,), (OPENVINO, CPU)]
    assert all(row.agrees for row in result.agreement)
    (doubt,) = [doubt for doubt in result.doubts if doubt.kind == "runtime"]
    assert doubt.label == "B"
    assert "onnxruntime 1.24.1 instead of" in doubt.evidence


def test_profile_cold_start_and_doctor_there(path: Path, openvino: str) -> None:
    there = Config(runtime=openvino, providers=["openvino"])
    profiled = profile(path, there, budget_s=0.1)
    assert {CPU, OPENVINO} == set(profiled.to_frame().provider)
    (start,) = cold_start(path, there).starts
    assert start.saved_ahead == ()
    assert start.load_s > 0
    report = doctor(openvino)
    assert {survey.name: survey.state for survey in report.survey.providers} == {
        OPENVINO: "works",
        CPU: "works",
    }
    assert report.survey.distributions == ("onnxruntime-openvino 1.24.1",)


def test_a_prediction_is_right_where_openvino_takes_all_but_the_inverses(path: Path, openvino: str) -> None:
    config = Config(runtime=openvino, providers=["openvino"])
    check = explain_and_run(path, config, passes=False, keep=False).compare_prediction()
    assert check.provider == OPENVINO
    assert check.right == len(check.nodes) == 10
    assert check.predicted_partitions == check.partitions == 3
