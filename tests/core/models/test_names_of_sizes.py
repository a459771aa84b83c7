"""Names of sizes are the model's own: also those that are arguments of Python."""

from __future__ import annotations

from pathlib import Path

import pytest
from onnx import TensorProto, helper

import workbench as wb
from tests.core.models import tiny


@pytest.mark.parametrize("name", ["seed", "source", "self", "dims"])
def test_a_size_of_any_name_is_given_in_a_mapping(tmp_path: Path, name: str) -> None:
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [name, 3])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [name, 3])
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", [x], [y])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    loaded = wb.load(tiny.save(model, tmp_path))
    assert loaded.inputs(dims={name: 4}).feeds[0]["x"].shape == (4, 3)
    assert loaded.inputs(dims={name: 4}, seed=1).seed == 1
