"""A small network with one operator that many providers do not take, and the defaults of their options."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pandas as pd
    from onnx import ModelProto

CHANNELS, SIDE, OPSET, IR_VERSION = 8, 16, 17, 10


def split_graph() -> ModelProto:
    """Return four convolutions with a skip connection that an old exporter wrote as a Sum.

    >>> from workbench import course
    >>> [node.op_type for node in course.split_graph().graph.node].count("Sum")
    1
    """
    from onnx import TensorProto, helper, numpy_helper

    draw = np.random.default_rng(8)
    shape = [1, CHANNELS, SIDE, SIDE]
    nodes, weights, last = [], [], "x"
    for number in range(1, 5):
        weight = draw.standard_normal((CHANNELS, CHANNELS, 3, 3)) / (3 * CHANNELS**0.5)
        weights.append(numpy_helper.from_array(weight.astype(np.float32), f"weight_{number}"))
        conv, relu = f"conv_{number}", f"relu_{number}"
        nodes.append(helper.make_node("Conv", [last, f"weight_{number}"], [conv], conv, pads=[1, 1, 1, 1]))
        nodes.append(helper.make_node("Relu", [conv], [relu], relu))
        last = relu
        if number == 2:
            nodes.append(helper.make_node("Sum", ["relu_1", "relu_2"], ["skip"], "skip"))
            last = "skip"
    values = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
        for name in ("x", last, *(node.output[0] for node in nodes[:-1]))
    ]
    graph = helper.make_graph(nodes, "split", values[:1], values[1:2], weights, value_info=values[2:])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION)


def option_defaults(provider: str) -> pd.DataFrame:
    """Return the options of a provider with their defaults, as ONNX Runtime has them.

    >>> from workbench import course
    >>> "device_id" in set(course.option_defaults("cuda")["option"])
    True
    """
    from workbench.config.catalogue import catalogue
    from workbench.records.display import frame_of

    return frame_of(catalogue().options(provider), ("name", "default", "help"), names={"name": "option"})
