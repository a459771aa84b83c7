"""Small models with generated weights, from microseconds to about 20 ms a run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from workbench import load

IR_VERSION, OPSET = 10, 20
MODELS_HELP = "generated models, samples, ONNX files, or folders of them"


@dataclass
class Net:
    """A graph under construction. A node is called like its only output."""

    shape: Sequence[int | str]
    seed: int = 0
    nodes: list[onnx.NodeProto] = field(default_factory=list)
    weights: list[TensorProto] = field(default_factory=list)
    planted: list[str] = field(default_factory=list)  # names of the nodes of the flaw

    def __post_init__(self) -> None:
        self.random = np.random.default_rng(self.seed)

    def weight(self, name: str, *shape: int) -> str:
        """Add a weight whose products keep the size of what they multiply."""
        fan_in = int(np.prod(shape[1:])) if len(shape) > 2 else shape[0]
        return self.constant(name, self.random.standard_normal(shape) / np.sqrt(fan_in))

    def constant(self, name: str, value: Any, dtype: Any = np.float32) -> str:
        """Add a constant; one of that name stays as it is."""
        if all(tensor.name != name for tensor in self.weights):
            self.weights.append(numpy_helper.from_array(np.asarray(value, dtype), name))
        return name

    def add(self, op_type: str, *inputs: str, name: str = "", **attributes: Any) -> str:
        """Add a node and return its output."""
        made = name or f"{op_type.lower()}{len(self.nodes)}"
        self.nodes.append(helper.make_node(op_type, list(inputs), [made], made, **attributes))
        return made

    def plant(self, op_type: str, *inputs: str, name: str = "", **attributes: Any) -> str:
        """Add a node that belongs to the flaw."""
        made = self.add(op_type, *inputs, name=name, **attributes)
        self.planted.append(made)
        return made

    def names_of(self, *op_types: str) -> list[str]:
        """Return the nodes of these operators."""
        return [node.name for node in self.nodes if node.op_type in op_types]

    def model(self, *outputs: str) -> onnx.ModelProto:
        """Return the model from x to these tensors, by default to the last one."""
        ends = outputs or (self.nodes[-1].output[0],)
        graph = helper.make_graph(
            self.nodes,
            "benchmark",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, self.shape)],
            [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in ends],
            self.weights,
        )
        model = helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION
        )
        inferred = {value.name: value for value in onnx.shape_inference.infer_shapes(model).graph.output}
        del model.graph.output[:]
        model.graph.output.extend(inferred[name] for name in ends)
        return model


def _mlp(rows: int, width: int, depth: int) -> Net:
    net, last = Net([rows, width]), "x"
    for layer in range(depth):
        last = net.add("Relu", net.add("MatMul", last, net.weight(f"w{layer}", width, width)))
    return net


def _cnn(size: int, channels: int, depth: int) -> Net:
    net, last, before = Net([1, 3, size, size]), "x", 3
    for layer in range(depth):
        weight = net.weight(f"w{layer}", channels, before, 3, 3)
        last, before = net.add("Relu", net.add("Conv", last, weight, pads=[1, 1, 1, 1])), channels
    return net


def _attention(length: int, width: int, depth: int) -> Net:
    """Projections, softmax(q·kᵀ)·v and a residual, `depth` times: many small nodes."""
    net, last = Net([1, length, width]), "x"
    for layer in range(depth):
        queries, keys, values = (
            net.add("MatMul", last, net.weight(f"{part}w{layer}", width, width)) for part in "qkv"
        )
        scores = net.add("MatMul", queries, net.add("Transpose", keys, perm=[0, 2, 1]))
        last = net.add("Add", net.add("MatMul", net.add("Softmax", scores, axis=-1), values), last)
    return net


MODELS = {
    "micro": lambda: _mlp(1, 16, 1),
    "mlp": lambda: _mlp(96, 512, 5),
    "cnn": lambda: _cnn(48, 48, 5),
    "attention": lambda: _attention(128, 256, 6),
    "mlp-wide": lambda: _mlp(128, 1024, 4),
    "cnn-wide": lambda: _cnn(72, 64, 6),
    "large": lambda: _mlp(32, 3200, 10),  # 400 MiB of weights in the file itself, as large as BERT-base
}


def make(name: str, folder: Path) -> Path:
    """Write the model called `name` and return its path."""
    path = folder / f"{name}.onnx"
    onnx.save(MODELS[name]().model(), path)
    return path


def model_paths(folder: Path, names: Iterable[str]) -> dict[str, Path]:
    """Return the files of these models; generated ones are written to `folder`."""
    paths: dict[str, Path] = {}
    for name in names:
        if name in MODELS:
            paths[name] = make(name, folder)
        elif Path(name).is_dir():
            paths |= {path.stem: path for path in sorted(Path(name).rglob("*.onnx"))}
        else:
            model = load(name)
            paths[model.name] = model.path
    return paths
