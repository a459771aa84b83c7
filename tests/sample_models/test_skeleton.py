"""Stripping keeps the graph and what is not a weight."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from sample_models.skeleton import load_skeleton, recipe_of, save_skeleton, strip

RANDOM = np.random.default_rng(3)
TENSORS = {
    "weight": RANDOM.normal(0, 0.02, (64, 64)).astype(np.float32),
    "ones": np.ones(512, np.float32),
    "small": RANDOM.normal(size=8).astype(np.float32),
    "mask": np.where(np.tri(64) > 0, 0, -3.4e38).astype(np.float32),
    "infinite": np.where(np.tri(64) > 0, 0, -np.inf).astype(np.float32),
    "indices": RANDOM.integers(0, 9, 4000),
}


@pytest.fixture
def model():
    nodes = [helper.make_node("Identity", [name], [f"{name}_out"], name=f"keep/{name}") for name in TENSORS]
    nodes[0].doc_string = "/home/someone/model.py(12)"
    nodes[0].metadata_props.add(key="pkg.torch.onnx.stack_trace", value="/home/someone/model.py")
    nodes[0].metadata_props.add(key="namespace", value="encoder/layer.0")
    graph = helper.make_graph(
        nodes,
        "g",
        [],
        [helper.make_tensor_value_info("weight_out", TensorProto.FLOAT, [64, 64])],
        [numpy_helper.from_array(array, name) for name, array in TENSORS.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def test_only_big_float_weights_become_recipes(model):
    kinds = {t.name: recipe.kind for t in strip(model).graph.initializer if (recipe := recipe_of(t))}
    assert kinds == {"weight": "normal", "ones": "constant"}
    kept = {t.name: t for t in model.graph.initializer if recipe_of(t) is None}
    for name, tensor in kept.items():
        np.testing.assert_array_equal(numpy_helper.to_array(tensor), TENSORS[name])


def test_nodes_stay_and_paths_go(model):
    names = [node.name for node in model.graph.node]
    stripped = strip(model)
    assert [node.name for node in stripped.graph.node] == names
    assert b"someone" not in stripped.SerializeToString()
    assert [(p.key, p.value) for p in stripped.graph.node[0].metadata_props] == [
        ("namespace", "encoder/layer.0")
    ]


def test_equal_weights_stay_equal(model):
    twin = onnx.TensorProto()
    twin.CopyFrom(model.graph.initializer[0])
    twin.name = "twin"
    model.graph.initializer.append(twin)
    recipes = {t.name: recipe_of(t) for t in strip(model).graph.initializer}
    assert recipes["twin"] == recipes["weight"]


def test_a_skeleton_is_read_as_it_was_written(model, tmp_path):
    stripped = strip(model)
    save_skeleton(stripped, tmp_path / "g.onnx.xz")
    assert load_skeleton((tmp_path / "g.onnx.xz").read_bytes()) == stripped


def test_an_unknown_kind_of_recipe_is_refused(model):
    tensor = strip(model).graph.initializer[0]
    next(entry for entry in tensor.external_data if entry.key == "kind").value = "cauchy"
    with pytest.raises(ValueError, match="cauchy"):
        recipe_of(tensor)
