"""Shape inference without weights, in a worker process that can be stopped."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from onnx import ModelProto, TensorProto, helper

import workbench as wb
from tests.core.models import tiny
from tests.features.explain import models
from workbench.core.models import Model
from workbench.core.models.graph import TensorInfo
from workbench.core.models.graph_walk import read_graph
from workbench.features.explain import weightless
from workbench.features.explain.weightless import with_shapes

pytestmark = pytest.mark.real
LEVELS = 60  # of functions, each calling the one below twice: 2^60 nodes once unfolded


def nested_functions() -> ModelProto:
    """A model of about 5 kB that takes ONNX's shape inference, and ORT, longer than anyone waits."""
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("f", 1)]
    functions = []
    for level in range(LEVELS):
        op_type, domain = (f"f{level - 1}", "f") if level else ("Neg", "")
        calls = [
            helper.make_node(op_type, [source], [target], domain=domain) for source, target in ("ab", "bc")
        ]
        functions.append(helper.make_function("f", f"f{level}", ["a"], ["c"], calls, opsets))
    proto = tiny.model(
        [helper.make_node(f"f{LEVELS - 1}", ["x"], ["y"], "call", domain="f")],
        [tiny.tensor("x", [4])],
        [tiny.tensor("y", [4])],
        {},
    )
    proto.functions.extend(functions)
    proto.opset_import.append(helper.make_opsetid("f", 1))
    return proto


def test_shapes_are_inferred_without_weights(tmp_path: Path) -> None:
    path = tiny.save_external(models.conv(), tmp_path)
    graph = read_graph(with_shapes(Model(path, "conv").structure))
    assert graph.info("r1") == TensorInfo(1, (1, 16, 8, 8))


def test_contradicting_shapes_are_left_to_ort() -> None:
    proto = models.gelu()
    proto.graph.value_info.append(helper.make_tensor_value_info("m", TensorProto.FLOAT, [1, 2, 3, 4, 5]))
    assert read_graph(with_shapes(proto)).by_key["matmul"].op_type == "MatMul"


def test_sizes_stay_unknown_where_inference_takes_too_long() -> None:
    proto = nested_functions()
    assert with_shapes(proto, timeout_s=1.0) is proto


def test_an_explanation_of_nested_functions_can_be_cancelled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cancel = threading.Event()
    infer = weightless.call_job

    def cancelled_meanwhile(*arguments: object, **options: object) -> object:
        threading.Timer(0.5, cancel.set).start()
        return infer(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(weightless, "call_job", cancelled_meanwhile)
    with pytest.raises(wb.Cancelled):
        wb.explain(tiny.save(nested_functions(), tmp_path), cancel=cancel, keep=False)
