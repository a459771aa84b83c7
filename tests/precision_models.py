"""Models with a known flaw: one layer whose weights an 8-bit scale for the whole tensor cannot hold."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

WIDTH = 64
OUTLIER = "layer2/MatMul"


def planted(path, *, layers=4, outlier=True):
    """A chain of MatMul and Relu; one weight of layer2 is 400 times the others."""
    rng = np.random.default_rng(0)
    nodes, tensors, before = [], [], "x"
    for at in range(layers):
        weight = rng.normal(0, 1 / np.sqrt(WIDTH), (WIDTH, WIDTH)).astype(np.float32)
        if outlier and at == 2:
            weight[0, 0] = 400 * np.abs(weight).mean()
        tensors.append(numpy_helper.from_array(weight, f"weight{at}"))
        nodes.append(
            helper.make_node("MatMul", [before, f"weight{at}"], [f"m{at}"], name=f"layer{at}/MatMul")
        )
        before = f"m{at}"
        if at + 1 < layers:
            nodes.append(helper.make_node("Relu", [before], [f"r{at}"], name=f"layer{at}/Relu"))
            before = f"r{at}"
    graph = helper.make_graph(
        nodes,
        "planted",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", WIDTH])],
        [helper.make_tensor_value_info(before, TensorProto.FLOAT, ["batch", WIDTH])],
        tensors,
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


def embedding(path):
    """A Gather from a table of mostly positive values, which static int8 keeps as unsigned, and a MatMul."""
    rng = np.random.default_rng(3)
    table = rng.normal(1, 0.4, (16, WIDTH)).astype(np.float32)
    weight = rng.normal(0, 1 / np.sqrt(WIDTH), (WIDTH, WIDTH)).astype(np.float32)
    graph = helper.make_graph(
        [
            helper.make_node("Gather", ["table", "tokens"], ["rows"], name="embed"),
            helper.make_node("MatMul", ["rows", "weight"], ["y"], name="head"),
        ],
        "embedding",
        [helper.make_tensor_value_info("tokens", TensorProto.INT64, ["batch", 4])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", 4, WIDTH])],
        [numpy_helper.from_array(table, "table"), numpy_helper.from_array(weight, "weight")],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


def inputs(count=32):
    return np.random.default_rng(1).normal(size=(count, WIDTH)).astype(np.float32)


def residual(path, *, blocks=4, channels=16):
    """Convolutions with sums around them: what signed activations keep from being fused on x86."""
    rng = np.random.default_rng(2)
    nodes, tensors, before = [], [], "x"

    def conv(name, source, inputs=channels):
        weight = rng.normal(0, 1 / np.sqrt(9 * inputs), (channels, inputs, 3, 3)).astype(np.float32)
        tensors.append(numpy_helper.from_array(weight, f"{name}.weight"))
        tensors.append(numpy_helper.from_array(np.zeros(channels, np.float32), f"{name}.bias"))
        nodes.append(
            helper.make_node(
                "Conv", [source, f"{name}.weight", f"{name}.bias"], [name], name=name, pads=[1, 1, 1, 1]
            )
        )
        return name

    before = conv("stem", before, 3)
    for at in range(blocks):
        inner = conv(f"block{at}/conv", before)
        nodes.append(helper.make_node("Relu", [inner], [f"block{at}/relu"], name=f"block{at}/Relu"))
        outer = conv(f"block{at}/second", f"block{at}/relu")
        nodes.append(helper.make_node("Add", [outer, before], [f"block{at}/sum"], name=f"block{at}/Add"))
        nodes.append(helper.make_node("Relu", [f"block{at}/sum"], [f"block{at}/out"], name=f"block{at}/Out"))
        before = f"block{at}/out"
    graph = helper.make_graph(
        nodes,
        "residual",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 24, 24])],
        [helper.make_tensor_value_info(before, TensorProto.FLOAT, [1, channels, 24, 24])],
        tensors,
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


def denormal_in_float16(path):
    """Save a product whose weights, about 1e-7, are denormal in 16 bits."""
    weights = np.random.default_rng(0).normal(0, 1e-7, (8, 8)).astype(np.float32)
    nodes = [
        helper.make_node("Mul", ["x", "much"], ["large"], name="scaling"),
        helper.make_node("MatMul", ["large", "w"], ["h"], name="small"),
        helper.make_node("Tanh", ["h"], ["y"], name="curve"),
    ]
    ends = [[helper.make_tensor_value_info(name, 1, ["n", 8])] for name in "xy"]
    tensors = [
        numpy_helper.from_array(weights, "w"),
        numpy_helper.from_array(np.float32([1e4]), "much"),
    ]
    graph = helper.make_graph(nodes, "small", *ends, tensors)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path
