"""Job: write a file whose outputs are tensors of its nodes, for an environment that may lack onnx."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

import onnx
import onnxruntime as ort

from workbench.core.worker.computing import session_of
from workbench.core.worker.protocol import BEFORE_CAST


def run(source: str, target: str, names: list[str] | None) -> dict[str, Any]:
    """Write the file; external weights stay where they are."""
    onnx.save(exposed(Path(source), names), target)
    return {}


def exposed(path: Path, chosen: Collection[str] | None = None) -> onnx.ModelProto:
    """Return the model with outputs of its nodes as its outputs; ORT infers their types.

    Those `chosen` come with what they are called before a cast, and what they are rounded to; without, the
    outputs of all nodes but constants. An output of the model that was not chosen is none of the result.
    """
    model = onnx.load(path, load_external_data=False)
    nodes = [node for node in model.graph.node if node.op_type != "Constant"]
    made = [name for node in nodes for name in node.output if name]
    if chosen is not None:
        rounded = roundings(nodes)
        wanted = {*chosen, *(BEFORE_CAST + name for name in chosen), *map(rounded.get, chosen)}
        made = [name for name in made if name in wanted]
        left = [value for value in model.graph.output if value.name in wanted]
        del model.graph.output[:]
        model.graph.output.extend(left)
    there = {value.name for value in model.graph.output}
    model.graph.output.extend(onnx.ValueInfoProto(name=name) for name in made if name not in there)
    return model


def session_of_tensors(path: str, chosen: Collection[str] | None = None) -> ort.InferenceSession:
    """Return a session that optimizes nothing, with these outputs."""
    return session_of(exposed(Path(path), chosen).SerializeToString(), str(Path(path).parent))


def roundings(nodes: Iterable[onnx.NodeProto]) -> dict[str, str | None]:
    """Return the tensors that QuantizeLinear reads, and what DequantizeLinear makes of each."""
    nodes = list(nodes)
    restored = {node.input[0]: node.output[0] for node in nodes if node.op_type == "DequantizeLinear"}
    return {node.input[0]: restored.get(node.output[0]) for node in nodes if node.op_type == "QuantizeLinear"}
