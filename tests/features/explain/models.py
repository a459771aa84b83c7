"""Small models of which we know what ORT 1.31 makes."""

from __future__ import annotations

import numpy as np
from onnx import ModelProto, helper

from tests.core.models.tiny import model, tensor, weights


def gelu(named: bool = True) -> ModelProto:
    """MatMul, bias and an exact Gelu in five nodes; the mask of an unused Identity at the end."""
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["m"], "matmul"),
        helper.make_node("Add", ["m", "b"], ["h"], "bias"),
        helper.make_node("Div", ["h", "root2"], ["d"], "div"),
        helper.make_node("Erf", ["d"], ["e"], "erf"),
        helper.make_node("Add", ["e", "one"], ["p"], "plus"),
        helper.make_node("Mul", ["h", "p"], ["q"], "times"),
        helper.make_node("Mul", ["q", "half"], ["g"], "halve"),
        helper.make_node("Identity", ["g"], ["i"], "nothing"),
        helper.make_node("Relu", ["i"], ["y"], "relu"),
    ]
    for node in () if named else nodes:
        node.name = ""
    constants = {
        "w": weights(8, 8),
        "b": weights(8),
        "root2": np.float32(2**0.5).reshape(()),
        "one": np.float32(1).reshape(()),
        "half": np.float32(0.5).reshape(()),
    }
    return model(nodes, [tensor("x", ["n", 4, 8])], [tensor("y", ["n", 4, 8])], constants)


def conv() -> ModelProto:
    """Conv, batch norm, Relu; a residual Add; a Conv whose value two nodes read: nothing fuses there."""
    nodes = [
        helper.make_node("Conv", ["x", "k1"], ["c1"], "conv1", pads=[1, 1, 1, 1]),
        helper.make_node("BatchNormalization", ["c1", "s", "o", "m", "v"], ["n1"], "norm1"),
        helper.make_node("Relu", ["n1"], ["r1"], "relu1"),
        helper.make_node("Conv", ["r1", "k2"], ["c2"], "conv2", pads=[1, 1, 1, 1]),
        helper.make_node("Add", ["c2", "r1"], ["a2"], "residual"),
        helper.make_node("Relu", ["a2"], ["r2"], "relu2"),
        helper.make_node("Conv", ["r2", "k2"], ["c3"], "conv3", pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["c3"], ["r3"], "relu3"),
        helper.make_node("Sigmoid", ["c3"], ["s3"], "gate"),
        helper.make_node("Mul", ["r3", "s3"], ["y"], "gated"),
    ]
    ones = np.ones(16, np.float32)
    constants = {
        "k1": weights(16, 3, 3, 3),
        "k2": weights(16, 16, 3, 3),
        "s": ones,
        "o": ones * 0,
        "m": ones * 0,
        "v": ones,
    }
    return model(nodes, [tensor("x", [1, 3, 8, 8])], [tensor("y", [1, 16, 8, 8])], constants)


def branches() -> ModelProto:
    """An If whose branches read a tensor from outside and use the same names inside."""
    bodies = [
        helper.make_graph(
            [
                helper.make_node(op, ["h"], ["inner"], "work"),
                helper.make_node("Identity", ["inner"], ["out"], "pass_on"),
            ],
            op,
            [],
            [tensor("out", ["n"])],
        )
        for op in ("Relu", "Neg")
    ]
    nodes = [
        helper.make_node("Tanh", ["x"], ["h"], "tanh"),
        helper.make_node("If", ["c"], ["z"], "choose", then_branch=bodies[0], else_branch=bodies[1]),
        helper.make_node("Add", ["z", "h"], ["y"], "sum"),
    ]
    return model(nodes, [tensor("x", ["n"]), tensor("c", [], 9)], [tensor("y", ["n"])])


def shapes() -> ModelProto:
    """A shape computed from an input with fixed dims: it folds away; two equal nodes: one is enough."""
    nodes = [
        helper.make_node("Shape", ["x"], ["sh"], "shape"),
        helper.make_node("Gather", ["sh", "zero"], ["first"], "first"),
        helper.make_node("Concat", ["first", "minus"], ["target"], "join", axis=0),
        helper.make_node("Reshape", ["x", "target"], ["flat"], "flat"),
        helper.make_node("Exp", ["flat"], ["e1"], "exp1"),
        helper.make_node("Exp", ["flat"], ["e2"], "exp2"),
        helper.make_node("Add", ["e1", "e2"], ["y"], "sum"),
    ]
    constants = {"zero": np.array([0], np.int64), "minus": np.array([-1], np.int64)}
    return model(nodes, [tensor("x", [2, 3, 4])], [tensor("y", [2, 12])], constants)


def duplicated() -> ModelProto:
    """A quantized tensor that two integer kernels read: ORT gives each a DequantizeLinear of its own."""
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "s", "z"], ["xq"], "quantize"),
        helper.make_node("DequantizeLinear", ["xq", "s", "z"], ["xd"], "dequantize"),
        helper.make_node("Add", ["xd", "xd"], ["a"], "add"),
        helper.make_node("QuantizeLinear", ["a", "s", "z"], ["aq"], "quantize_sum"),
        helper.make_node("DequantizeLinear", ["aq", "s", "z"], ["ad"], "dequantize_sum"),
        helper.make_node("Mul", ["xd", "ad"], ["m"], "mul"),
        helper.make_node("QuantizeLinear", ["m", "s", "z"], ["mq"], "quantize_product"),
        helper.make_node("DequantizeLinear", ["mq", "s", "z"], ["y"], "dequantize_product"),
    ]
    constants = {"s": np.float32(0.1).reshape(()), "z": np.uint8(128).reshape(())}
    return model(nodes, [tensor("x", [4, 4])], [tensor("y", [4, 4])], constants)


def half() -> ModelProto:
    """Float16 on the CPU: ORT puts Casts around what it has no kernel for."""
    nodes = [
        helper.make_node("Relu", ["x"], ["r"], "relu"),
        helper.make_node("MatMul", ["r", "w"], ["m"], "matmul"),
        helper.make_node("Sigmoid", ["m"], ["y"], "sigmoid"),
    ]
    constants = {"w": weights(8, 8).astype(np.float16)}
    return model(nodes, [tensor("x", [4, 8], 10)], [tensor("y", [4, 8], 10)], constants)


def calls() -> ModelProto:
    """A function of the model's own, called twice: ORT writes its body out."""
    body = [
        helper.make_node("Tanh", ["a"], ["t"], "t"),
        helper.make_node("Mul", ["t", "a"], ["b"], "m"),
    ]
    made = model(
        [
            helper.make_node("Gate", ["x"], ["h"], "first", domain="own"),
            helper.make_node("Gate", ["h"], ["y"], "second", domain="own"),
        ],
        [tensor("x", ["n"])],
        [tensor("y", ["n"])],
        domains={"own": 1},
    )
    opsets = [helper.make_opsetid("", 20)]
    made.functions.append(helper.make_function("own", "Gate", ["a"], ["b"], body, opsets))
    return made


MODELS = {
    "duplicated": duplicated,
    "half": half,
    "calls": calls,
    "gelu": gelu,
    "gelu unnamed": lambda: gelu(named=False),
    "conv": conv,
    "branches": branches,
    "shapes": shapes,
}
