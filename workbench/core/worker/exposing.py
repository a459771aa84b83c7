"""Job: write a file whose outputs are the tensors of all nodes, for an environment that may lack onnx."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import onnx


def run(source: str, target: str) -> dict[str, Any]:
    """Write the file; external weights stay where they are."""
    onnx.save(exposed(Path(source)), target)
    return {}


def exposed(path: Path) -> onnx.ModelProto:
    """Return the model with the outputs of all nodes but constants as its outputs; ORT infers their types."""
    model = onnx.load(path, load_external_data=False)
    there = {value.name for value in model.graph.output}
    nodes = (node for node in model.graph.node if node.op_type != "Constant")
    names = (name for node in nodes for name in node.output if name and name not in there)
    model.graph.output.extend(onnx.ValueInfoProto(name=name) for name in names)
    return model
