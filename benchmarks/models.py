"""Small models with generated weights, from microseconds to about 20 ms a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

IR_VERSION, OPSET = 10, 20


def make(name: str, folder: Path) -> Path:
    """Write the model called `name` and return its path."""
    path = folder / f"{name}.onnx"
    onnx.save(MODELS[name](), path)
    return path


def _mlp(rows: int, width: int, depth: int) -> onnx.ModelProto:
    rng = np.random.default_rng(0)
    nodes, weights, last = [], [], "x"
    for layer in range(depth):
        weights.append(_weight(f"w{layer}", rng, (width, width), width))
        nodes.append(helper.make_node("MatMul", [last, f"w{layer}"], [f"m{layer}"]))
        nodes.append(helper.make_node("Relu", [f"m{layer}"], [f"r{layer}"]))
        last = f"r{layer}"
    return _model(nodes, weights, [rows, width], last, [rows, width])


def _cnn(size: int, channels: int, depth: int) -> onnx.ModelProto:
    rng = np.random.default_rng(1)
    nodes, weights, last, before = [], [], "x", 3
    for layer in range(depth):
        weights.append(_weight(f"w{layer}", rng, (channels, before, 3, 3), before * 9))
        nodes.append(helper.make_node("Conv", [last, f"w{layer}"], [f"c{layer}"], pads=[1, 1, 1, 1]))
        nodes.append(helper.make_node("Relu", [f"c{layer}"], [f"r{layer}"]))
        last, before = f"r{layer}", channels
    return _model(nodes, weights, [1, 3, size, size], last, [1, channels, size, size])


def _attention(length: int, width: int, depth: int) -> onnx.ModelProto:
    """Projections, softmax(q·kᵀ)·v and a residual, `depth` times: many small nodes."""
    rng = np.random.default_rng(2)
    nodes, weights, last = [], [], "x"
    for layer in range(depth):
        for part in "qkv":
            weights.append(_weight(f"{part}w{layer}", rng, (width, width), width))
            nodes.append(helper.make_node("MatMul", [last, f"{part}w{layer}"], [f"{part}{layer}"]))
        nodes += [
            helper.make_node("Transpose", [f"k{layer}"], [f"kt{layer}"], perm=[0, 2, 1]),
            helper.make_node("MatMul", [f"q{layer}", f"kt{layer}"], [f"s{layer}"]),
            helper.make_node("Softmax", [f"s{layer}"], [f"p{layer}"], axis=-1),
            helper.make_node("MatMul", [f"p{layer}", f"v{layer}"], [f"a{layer}"]),
            helper.make_node("Add", [f"a{layer}", last], [f"o{layer}"]),
        ]
        last = f"o{layer}"
    return _model(nodes, weights, [1, length, width], last, [1, length, width])


def _weight(name: str, rng: np.random.Generator, shape: tuple[int, ...], fan_in: int) -> TensorProto:
    values = rng.standard_normal(shape).astype(np.float32) / np.float32(np.sqrt(fan_in))
    return numpy_helper.from_array(values, name)


def _model(
    nodes: list[Any], weights: list[TensorProto], shape: list[int], output: str, output_shape: list[int]
) -> onnx.ModelProto:
    graph = helper.make_graph(
        nodes,
        "benchmark",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info(output, TensorProto.FLOAT, output_shape)],
        weights,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION)


MODELS = {
    "micro": lambda: _mlp(1, 16, 1),
    "mlp": lambda: _mlp(96, 512, 5),
    "cnn": lambda: _cnn(48, 48, 5),
    "attention": lambda: _attention(128, 256, 6),
    "mlp-wide": lambda: _mlp(128, 1024, 4),
    "cnn-wide": lambda: _cnn(72, 64, 6),
}


def make_large(folder: Path) -> Path:
    """Origin 400 MiB of weights, as large as BERT-base, in the file itself."""
    path = folder / "large.onnx"
    onnx.save(_mlp(32, 3200, 10), path)
    return path
