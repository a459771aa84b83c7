"""A valid model of very many nodes that runs in an instant: layers of three small operators."""

from __future__ import annotations

import numpy as np
from onnx import ModelProto, helper

from tests.core.models import tiny

PER_LAYER = 3


def layers(nodes: int) -> ModelProto:
    """So many nodes, in layers of an addition, a Relu and a product."""
    made, last = [], "x"
    for layer in range(nodes // PER_LAYER):
        scope = f"/encoder/block.{layer // 100}/layer.{layer % 100}"
        for op_type, more in (("Add", ["bias"]), ("Relu", []), ("Mul", ["scale"])):
            name = f"{scope}/{op_type}"
            made.append(helper.make_node(op_type, [last, *more], [f"{name}_output_0"], name=name))
            last = f"{name}_output_0"
    made[-1].output[0] = "y"
    weights = {name: np.full(4, 0.5, np.float32) for name in ("bias", "scale")}
    return tiny.model(made, [tiny.tensor("x", [1, 4])], [tiny.tensor("y", [1, 4])], weights, name="long")
