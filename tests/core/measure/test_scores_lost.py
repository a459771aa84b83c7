"""A detector whose boxes and scores share an integer scale: refused by name, and mended by one call."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import workbench as wb
from workbench.apps.cli import main
from workbench.core.measure.gates import WORSE

pytestmark = pytest.mark.real
STATIC = wb.Config(precision=wb.StaticInt8())


def written(path: Path, joined: Sequence[onnx.NodeProto], last: Sequence[onnx.NodeProto]) -> Path:
    """Write a net that gives boxes of 0 to 640 and scores of 0 to 1 in one output."""
    random = np.random.default_rng(0)

    def constant(name: str, *dims: int, scale: float = 0.3) -> Any:
        return numpy_helper.from_array((random.standard_normal(dims) * scale).astype(np.float32), name)

    def shared(name: str, value: Any) -> Any:
        return numpy_helper.from_array(np.array(value), name)

    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"], name="stem", pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["c"], ["r"], name="relu"),
        helper.make_node("Conv", ["r", "v"], ["b"], name="box"),
        helper.make_node("Conv", ["r", "u"], ["s"], name="class"),
        *joined,
        helper.make_node("Concat", ["boxes", "scores"], ["joined"], name="/Concat", axis=1),
        *last,
    ]
    weights = [
        constant("w", 16, 3, 3, 3),
        constant("v", 4, 16, 1, 1),
        constant("u", 5, 16, 1, 1),
        shared("size", np.float32(640)),
        shared("shape", [1, 9, -1]),
        shared("sizes", np.float32([[640]] * 4 + [[1]] * 5)),
        shared("first", [0]),
        shared("all", [9]),
        shared("axis", [1]),
    ]
    graph = helper.make_graph(
        nodes,
        "detector",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 16, 16])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 9, 256])],
        weights,
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), str(path))
    return path


@pytest.fixture(scope="module")
def detector(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a detector that scales its boxes before the Concat."""
    joined = [
        helper.make_node("Sigmoid", ["b"], ["part"], name="share"),
        helper.make_node("Mul", ["part", "size"], ["boxes"], name="boxes"),
        helper.make_node("Sigmoid", ["s"], ["scores"], name="scores"),
    ]
    last = [helper.make_node("Reshape", ["joined", "shape"], ["y"], name="/Reshape")]
    return written(tmp_path_factory.mktemp("detector") / "detector.onnx", joined, last)


@pytest.fixture(scope="module")
def comparison(detector: Path) -> wb.Comparison:
    return wb.compare(detector, wb.Config(), STATIC, budget_s=1.0, calibration="random")


def test_the_verdict_names_the_channels_and_the_node(comparison: wb.Comparison) -> None:
    (row,) = comparison.agreement
    assert comparison.verdict.kind == "outputs differ"
    assert row.agrees is False
    assert row.relative_error < 0.02, "of the boxes, whose scale hides the scores"
    assert row.part == "channels 4 to 8 of axis 1"
    assert row.part_error == 1.0
    assert row.tail == ("/Concat", "/Reshape")
    assert "are all 0" in comparison.verdict.reason
    assert "after '/Concat': leave the tail in float" in comparison.verdict.reason


def test_the_fix_is_one_call_and_measured(comparison: wb.Comparison) -> None:
    finding = comparison.findings()["channels-lost-in-a-common-scale"]
    assert finding.record.fix.config.precision.exclude == ("/Concat", "/Reshape")
    result = finding.try_fix(budget_s=1.0)
    assert result.kept, result.reason


@pytest.mark.slow
def test_arithmetic_behind_the_concat_belongs_to_the_tail(tmp_path: Path) -> None:
    joined = [
        helper.make_node("Identity", ["b"], ["boxes"], name="box logits"),
        helper.make_node("Identity", ["s"], ["scores"], name="class logits"),
    ]
    last = [
        helper.make_node("Reshape", ["joined", "shape"], ["flat"], name="/Reshape"),
        helper.make_node("Sigmoid", ["flat"], ["shares"], name="/Sigmoid"),
        helper.make_node("Slice", ["shares", "first", "all", "axis"], ["kept"], name="/Slice"),
        helper.make_node("Mul", ["kept", "sizes"], ["scaled"], name="/Mul"),
        helper.make_node("Add", ["scaled", "scaled"], ["y"], name="/Add"),
    ]
    detector = written(tmp_path / "detector.onnx", joined, last)
    comparison = wb.compare(detector, wb.Config(), STATIC, budget_s=1.0, calibration="random")
    (row,) = comparison.agreement
    assert row.tail == ("/Concat", "/Add", "/Mul", "/Slice", "/Sigmoid", "/Reshape")
    assert "after '/Concat': leave the tail in float" in comparison.verdict.reason
    finding = comparison.findings()["channels-lost-in-a-common-scale"]
    assert set(finding.record.fix.config.precision.exclude) == set(row.tail)
    result = finding.try_fix(budget_s=1.0)
    assert result.kept, result.reason


def test_without_the_tail_the_outputs_agree(detector: Path) -> None:
    mended = wb.Config(precision=wb.StaticInt8(exclude=("/Concat", "/Reshape")))
    comparison = wb.compare(detector, wb.Config(), mended, budget_s=1.0, calibration="random")
    assert [row.agrees for row in comparison.agreement] == [True], comparison.verdict.reason


def test_a_check_that_allows_an_error_of_the_whole_sees_the_channels(detector: Path) -> None:
    made = wb.prepare(detector, STATIC, calibration="random").model.path
    arguments = ["check", str(made), "--against", str(detector), "--max-error", "0.05", "--budget", "1"]
    assert main(arguments) == WORSE


def test_the_error_is_that_of_the_worst_channels(detector: Path) -> None:
    table = wb.accuracy(detector, wb.Config(), STATIC, calibration="random", items=4)
    assert table.record.error("B") == 1.0
    assert table.fidelity[0].rms_error < 0.02


@pytest.mark.slow
def test_every_quantizing_search_measures_the_error_by_channel(detector: Path) -> None:
    proposal = wb.exclude_for(detector, STATIC, max_error=0.2, calibration="random", items=4)
    assert proposal.record.whole_error == 1.0


def text_detector(folder: Path, bias: float) -> str:
    """Write a net whose map of probabilities lies near the sigmoid of a bias; -14 gives a millionth."""
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["h"], name="product"),
        helper.make_node("Add", ["h", "b"], ["a"], name="bias"),
        helper.make_node("Sigmoid", ["a"], ["s"], name="map"),
        helper.make_node("Reshape", ["s", "shape"], ["y"], name="as a picture"),
    ]
    random = np.random.default_rng(0)
    weights = [
        numpy_helper.from_array((random.standard_normal((16, 64)) * 0.1).astype(np.float32), "w"),
        numpy_helper.from_array(np.float32([bias]), "b"),
        numpy_helper.from_array(np.array([1, 1, 8, 8]), "shape"),
    ]
    graph = helper.make_graph(
        nodes,
        "text",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 16])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 1, 8, 8])],
        weights,
    )
    path = folder / f"{-bias:g}.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), str(path))
    return str(path)


@pytest.mark.parametrize(("bias", "agrees"), [(-13.0, None), (-2.0, False)], ids=["nothing", "something"])
def test_probabilities_next_to_0_in_both_are_not_judged(
    tmp_path: Path, bias: float, agrees: bool | None
) -> None:
    files = text_detector(tmp_path, -14.0), text_detector(tmp_path, bias)
    comparison = wb.compare(*files, budget_s=1.0, progress=False, keep=False)
    (row,) = comparison.agreement
    assert row.agrees is agrees
    assert ("finds nothing" in row.reason) is (agrees is None)
    assert ("times the output" in row.reason) is (agrees is False)
    assert ("finds nothing" in str(comparison)) is (agrees is None)
