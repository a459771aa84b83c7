"""Job: run ORT's own pre-processing: infer shapes, fold constants, remove Identity nodes after weights."""

from __future__ import annotations

import contextlib
import tempfile
from pathlib import Path
from typing import Any

import onnx
from onnxruntime.quantization.shape_inference import quant_pre_process

from workbench.core.rewrites.scopes import names_read
from workbench.core.worker.preparing import files


def run(source: str, target: str) -> dict[str, Any]:
    """Pre-process; with symbolic shapes only where ORT and onnx cannot infer the rank of a tensor."""
    large = files.is_large(source)
    where: dict[str, Any] = {
        "save_as_external_data": large,
        "all_tensors_to_one_file": large,
        "external_data_location": files.DATA if large else None,
    }
    named = files.named(source, target)
    quant_pre_process(named, target, skip_symbolic_shape=True, **where)
    notes = [] if has_shapes(target) else with_symbolic_shapes(named, target, where)
    files.forget(named, source)
    flatten_biases(target)
    return files.answer(source, target, notes)


def has_shapes(path: str) -> bool:
    """Return whether the rank of every tensor is known."""
    graph = onnx.load(path, load_external_data=False).graph
    values = [*graph.value_info, *graph.output]
    known = {"", *(value.name for value in values if value.type.tensor_type.HasField("shape"))}
    return all(known.issuperset(node.output) for node in graph.node)


def with_symbolic_shapes(source: str, target: str, where: dict[str, Any]) -> list[str]:
    """Put the file with symbolic shapes in the target's place; return a note where they cannot be inferred.

    ORT's inference simplifies a formula for each open size: 7 s for a detector with Resize, 20 s for a BERT.
    """
    with tempfile.TemporaryDirectory(dir=Path(target).parent) as folder, contextlib.chdir(folder):
        made = Path(folder) / "made" / Path(target).name
        made.parent.mkdir()
        try:
            quant_pre_process(source, str(made), auto_merge=True, **where)
        except Exception as error:  # noqa: BLE001 - "Incomplete symbolic shape inference" is a bare Exception
            problem = str(error)[:200] or type(error).__name__
            return [f"without symbolic shape inference, which failed: {problem}"]
        for path in made.parent.iterdir():
            path.replace(Path(target).with_name(path.name))
    return []


def flatten_biases(path: str) -> None:
    """Give each constant bias of a Gemm one axis: the quantizers fail on (1, n), which Gemm takes, too."""
    model = onnx.load(path, load_external_data=False)
    constants = {tensor.name: tensor for tensor in model.graph.initializer}
    copies = 0
    for node in model.graph.node:
        bias = constants.get(node.input[2]) if node.op_type == "Gemm" and len(node.input) > 2 else None
        if bias is None or len(bias.dims) != 2 or bias.dims[0] != 1:
            continue
        copies += 1
        flat = model.graph.initializer.add()
        flat.CopyFrom(bias)
        del flat.dims[0]
        flat.name = node.input[2] = f"{bias.name}_flat_{copies}"
    if copies:
        read = names_read(model)
        unread = [tensor for tensor in model.graph.initializer if tensor.name not in read]
        for tensor in unread:
            model.graph.initializer.remove(tensor)
        Path(path).write_bytes(model.SerializeToString())
