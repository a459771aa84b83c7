"""The quantized digits net as ONNX: integer weights, and pairs of Q and DQ nodes between operators."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import helper, numpy_helper

OPSET, IR = 17, 8


@dataclass(frozen=True)
class QuantizedLayer:
    """A convolution (four axes) or a linear layer (two), with one weight scale per output channel."""

    weight: NDArray[np.int8]
    weight_scale: NDArray[np.float32]
    bias: NDArray[np.float32]
    input_scale: float
    stride: int = 1


@dataclass
class QdqGraph:
    """Nodes and tensors under construction."""

    nodes: list[onnx.NodeProto] = field(default_factory=list)
    tensors: list[onnx.TensorProto] = field(default_factory=list)

    def constant(self, name: str, array: NDArray[np.generic]) -> str:
        self.tensors.append(numpy_helper.from_array(array, name))
        return name

    def add(self, op: str, inputs: list[str], output: str, **attributes: Any) -> str:
        self.nodes.append(helper.make_node(op, inputs, [output], name=f"{output}/{op}", **attributes))
        return output

    def quantized(self, tensor: str, scale: float) -> str:
        """Add a Q and DQ pair of eight unsigned bits with zero point 0."""
        step = self.constant(f"{tensor}_scale", np.array(scale, np.float32))
        zero = self.constant(f"{tensor}_zero_point", np.array(0, np.uint8))
        bits = self.add("QuantizeLinear", [tensor, step, zero], f"{tensor}_quantized")
        return self.add("DequantizeLinear", [bits, step, zero], f"{tensor}_dequantized")

    def dequantized(self, name: str, array: NDArray[np.generic], scale: NDArray[np.float32]) -> str:
        inputs = [
            self.constant(f"{name}_quantized", array),
            self.constant(f"{name}_scale", scale),
            self.constant(f"{name}_zero_point", np.zeros(scale.shape, array.dtype)),
        ]
        return self.add("DequantizeLinear", inputs, name, axis=0)

    def parameters(self, layer: QuantizedLayer, name: str) -> list[str]:
        """Add the weight, and the bias in 32 bits at the scale of the integer product."""
        bias_scale = (layer.weight_scale * np.float32(layer.input_scale)).astype(np.float32)
        bias = np.rint(layer.bias / bias_scale).astype(np.int32)
        return [
            self.dequantized(f"{name}_weight", layer.weight, layer.weight_scale),
            self.dequantized(f"{name}_bias", bias, bias_scale),
        ]


def write_qdq(
    convolutions: list[QuantizedLayer], head: QuantizedLayer, average_scale: float, path: str
) -> None:
    """Write the quantized net of `train_conv`; `average_scale` is that of the last convolution's output."""
    graph = QdqGraph()
    tensor = "pixels"
    for index, layer in enumerate(convolutions):
        name = f"conv{index}"
        inputs = [graph.quantized(tensor, layer.input_scale), *graph.parameters(layer, name)]
        shape: dict[str, Any] = {"kernel_shape": [3, 3], "pads": [1] * 4, "strides": [layer.stride] * 2}
        tensor = graph.add("Relu", [graph.add("Conv", inputs, name, **shape)], f"{name}_relu")
    pooled = graph.add("GlobalAveragePool", [graph.quantized(tensor, average_scale)], "average")
    flat = graph.add("Flatten", [graph.quantized(pooled, head.input_scale)], "features")
    graph.add("Gemm", [flat, *graph.parameters(head, "head")], "logits", transB=1)
    made = helper.make_graph(
        graph.nodes,
        "digits-conv-qat",
        [helper.make_tensor_value_info("pixels", onnx.TensorProto.FLOAT, ["batch", 1, 64, 64])],
        [helper.make_tensor_value_info("logits", onnx.TensorProto.FLOAT, ["batch", 10])],
        graph.tensors,
    )
    model = helper.make_model(made, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR)
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, path)
