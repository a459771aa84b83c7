"""Weights of any size: in one file while they are few, in a second one above the bound."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from workbench.core.worker.preparing import conversions

VALUES = np.arange(4096, dtype=np.float32)


def doubled() -> onnx.ModelProto:
    graph = helper.make_graph(
        [helper.make_node("Add", ["w", "w"], ["y"])],
        "g",
        [],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [4096])],
        [numpy_helper.from_array(VALUES, "w")],
    )
    return helper.make_model(graph)


def test_the_size_is_that_of_the_weights_however_they_are_held() -> None:
    model = doubled()
    assert conversions.weight_bytes(model.graph) == VALUES.nbytes
    typed = helper.make_tensor("v", TensorProto.FLOAT, [3], [1.0, 2.0, 3.0])
    model.graph.initializer.append(typed)
    assert conversions.weight_bytes(model.graph) == VALUES.nbytes + 12


@pytest.mark.parametrize(("bound", "beside"), [(VALUES.nbytes, False), (VALUES.nbytes - 1, True)])
def test_above_the_bound_weights_lie_beside_the_graph(
    bound: int, beside: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conversions, "MOST_IN_ONE_FILE", bound)
    path = tmp_path / "model.onnx"
    conversions.save(doubled(), str(path))
    assert (tmp_path / conversions.DATA).exists() == beside
    assert conversions.has_external(str(path)) == beside
    (tensor,) = onnx.load(path).graph.initializer
    np.testing.assert_array_equal(numpy_helper.to_array(tensor), VALUES)
