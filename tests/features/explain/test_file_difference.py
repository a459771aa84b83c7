"""What differs between two model files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from onnx import TensorProto, helper, numpy_helper

import workbench as wb
from workbench.features.explain.file_difference import file_difference


def saved(path: Path, operators: list[str], weights: dict[str, np.ndarray]) -> wb.Model:  # type: ignore[name-defined, type-arg]
    names = ["x", *(f"t{index}" for index in range(len(operators) - 1)), "y"]
    nodes = [
        helper.make_node(operator, [names[index]], [names[index + 1]])
        for index, operator in enumerate(operators)
    ]
    value = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [4]) for name in ("x", "y")]
    graph = helper.make_graph(
        nodes,
        "g",
        value[:1],
        value[1:],
        [numpy_helper.from_array(array, name) for name, array in weights.items()],
    )
    path.write_bytes(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]).SerializeToString()
    )
    return wb.load(path)


def test_nodes_and_weights_that_differ_are_named(tmp_path: Path) -> None:
    wide, narrow = np.zeros((2, 3), np.float32), np.zeros((2, 3), np.float16)
    before = saved(tmp_path / "a.onnx", ["Relu", "Abs", "Relu"], {"w": wide, "gone": wide, "kept": wide})
    after = saved(tmp_path / "b.onnx", ["Relu", "Neg"], {"w": narrow, "new": wide, "kept": wide})
    difference = file_difference(before, after)
    assert difference.nodes == (3, 2)
    assert difference.to_frame().to_numpy().tolist() == [
        ["operator", "Abs", "1", None],
        ["operator", "Neg", None, "1"],
        ["operator", "Relu", "2", "1"],
        ["weight", "gone", "float32[2,3]", None],
        ["weight", "new", None, "float32[2,3]"],
        ["weight", "w", "float32[2,3]", "float16[2,3]"],
    ]
    text = str(difference)
    assert text.startswith("3 nodes before, 2 after")
    assert "3 weights differ: gone float32[2,3] → none" in text


def test_equal_files_do_not_differ(tmp_path: Path) -> None:
    weights = {"w": np.zeros((2, 3), np.float32)}
    models = [saved(tmp_path / f"{name}.onnx", ["Relu"], weights) for name in "ab"]
    difference = file_difference(*models)
    assert difference.operators == difference.weights == ()
    assert "0 operators differ" in str(file_difference(*models))
