"""The error budget follows the arithmetic of the file that ORT loads."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import workbench as wb
from tests.core.models import tiny
from workbench.core.measure.candidates import make_candidates
from workbench.core.measure.compare_request import CompareRequest
from workbench.core.measure.evidence import RoundsEvidence
from workbench.core.measure.outcomes import Outcome
from workbench.core.measure.tolerance import least_sqnr_db
from workbench.core.models.model import Model
from workbench.core.worker.values import write_values


def saved(folder: Path, op: str, kind: int = TensorProto.FLOAT) -> Model:
    """A model of one weight of this element type and one node of this operator."""
    weight = numpy_helper.from_array(np.ones(4, helper.tensor_dtype_to_np_dtype(kind)), "w")
    graph = helper.make_graph(
        [helper.make_node(op, ["x", "w"], ["y"])],
        "g",
        [helper.make_tensor_value_info("x", kind, [4])],
        [helper.make_tensor_value_info("y", kind, [4])],
        [weight],
    )
    path = folder / f"{op}-{kind}.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10), path)
    return wb.load(path)


@pytest.mark.parametrize(
    ("op", "kind", "prepared", "asked"),
    [
        ("Add", TensorProto.FLOAT, False, None),
        ("Add", TensorProto.FLOAT, True, 60.0),
        ("Add", TensorProto.FLOAT16, True, 40.0),
        ("Add", TensorProto.FLOAT16, False, 40.0),
        ("MatMulInteger", TensorProto.FLOAT, True, 10.0),
        ("MatMulNBits", TensorProto.FLOAT, True, 10.0),
        ("DequantizeLinear", TensorProto.FLOAT, False, 10.0),
    ],
)
def test_the_arithmetic_is_found_in_the_file(
    tmp_path: Path, op: str, kind: int, prepared: bool, asked: float | None
) -> None:
    config = wb.Config(precision=wb.PreparedModel("other.onnx")) if prepared else wb.Config()
    assert least_sqnr_db(config, saved(tmp_path, op, kind)) == asked


@pytest.mark.parametrize(
    ("op", "kind", "asked"),
    [
        ("Add", TensorProto.FLOAT, None),
        ("Add", TensorProto.FLOAT16, 40.0),
        ("MatMulInteger", TensorProto.FLOAT, 10.0),
        ("MatMulNBits", TensorProto.FLOAT, 10.0),
    ],
)
def test_the_arithmetic_is_found_in_a_branch_too(
    tmp_path: Path, op: str, kind: int, asked: float | None
) -> None:
    weight = numpy_helper.from_array(np.ones(4, helper.tensor_dtype_to_np_dtype(kind)), "w")
    made = helper.make_tensor_value_info("z", kind, [4])
    branch = helper.make_graph([helper.make_node(op, ["w", "w"], ["z"])], "branch", [], [made], [weight])
    nodes = [
        helper.make_node("If", ["c"], ["v"], then_branch=branch, else_branch=branch),
        helper.make_node("Cast", ["v"], ["y"], to=TensorProto.FLOAT),
    ]
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("c", TensorProto.BOOL, [])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [4])],
    )
    path = tmp_path / "branches.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10), path)
    assert least_sqnr_db(wb.Config(), wb.load(path)) == asked


def test_a_quantizer_asks_for_what_suits_it_whatever_the_file() -> None:
    assert least_sqnr_db(wb.Config(precision=wb.DynamicInt8()), None) == 10.0


@pytest.mark.parametrize(
    ("provider", "asked"),
    [
        (wb.Provider("tensorrt", trt_fp16_enable=True), 40.0),
        (wb.Provider("tensorrt", trt_fp16_enable=False), None),
        (wb.Provider("openvino", precision="FP16"), 40.0),
        (wb.Provider("cuda"), None),
    ],
)
def test_a_provider_that_computes_in_16_bits_has_their_budget(
    provider: wb.Provider, asked: float | None
) -> None:
    assert least_sqnr_db(wb.Config(providers=(provider, wb.Provider("cpu"))), None) == asked


def test_disturbed_float_weights_in_a_prepared_file_are_different_outputs(tmp_path: Path) -> None:
    """12 % off used to pass for an int8 model's rounding."""
    model = wb.load(tiny.save(tiny.mlp(), tmp_path))
    other = tmp_path / "other.onnx"
    onnx.save(tiny.mlp(), other)
    request = CompareRequest(
        model=model.path,
        model_name="m",
        model_bytes=1,
        model_record=model.record,
        configs=(wb.Config(), wb.Config(precision=wb.PreparedModel(str(other)))),
        feeds=[{"x": np.ones((2, 4), np.float32)}],
        inputs=model.inputs(seed=0).record(),
        source=model,
    )
    evidence = RoundsEvidence(request, make_candidates(request, tmp_path))
    outcomes = []
    for label, error in (("A", 0.0), ("B", 0.1)):
        write_values(tmp_path / label, [{"y": np.linspace(-1, 1, 64) * (1 + error)}])
        outcomes.append(Outcome(label, outputs=tmp_path / label))
    evidence.add(outcomes)
    (row,) = evidence.agreement
    assert row.agrees is False
    assert "SQNR 20 dB" in row.reason
    assert "60 dB asked for" in row.reason
