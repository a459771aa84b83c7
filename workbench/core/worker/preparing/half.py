"""Job: convert to float16 by ORT's converter."""

from __future__ import annotations

import contextlib
import tempfile
from typing import Any

import onnx
import onnxruntime as ort
from onnxruntime.capi.onnxruntime_pybind11_state import NotImplemented
from onnxruntime.transformers.float16 import DEFAULT_OP_BLOCK_LIST
from onnxruntime.transformers.onnx_model import OnnxModel

from workbench.core.worker.preparing import files


def run(source: str, target: str, keep_io: bool, blocked_ops: list[str]) -> dict[str, Any]:
    model = OnnxModel(onnx.load(source))
    with (
        tempfile.TemporaryDirectory() as folder,
        contextlib.chdir(folder),
    ):  # ORT's shape inference leaves a file
        model.convert_float_to_float16(
            keep_io_types=keep_io, op_block_list=sorted({*DEFAULT_OP_BLOCK_LIST, *blocked_ops})
        )
    model.topological_sort()
    files.save(model.model, target)
    del model
    _check_types(target)
    return files.answer(source, target, [])


def _check_types(path: str) -> None:
    """Load the file: ORT's converter may leave an operator with unsupported types."""
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    with contextlib.suppress(NotImplemented):  # another provider may have a kernel that the CPU lacks
        ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
