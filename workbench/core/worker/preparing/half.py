"""Job: convert to float16 by ORT's converter."""

from __future__ import annotations

import contextlib
from typing import Any

import onnxruntime as ort
from onnxruntime.capi.onnxruntime_pybind11_state import NotImplemented

from workbench.core.worker.preparing import files
from workbench.core.worker.preparing.float16 import to_float16


def run(source: str, target: str, keep_io: bool, blocked_ops: list[str]) -> dict[str, Any]:
    kept, custom = to_float16(source, target, keep_io, blocked_ops)
    _check_types(target)
    return files.answer(source, target, [], kept=kept, custom=custom)


def _check_types(path: str) -> None:
    """Load the file: ORT's converter may leave an operator with unsupported types."""
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    with contextlib.suppress(NotImplemented):  # another provider may have a kernel that the CPU lacks
        ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
