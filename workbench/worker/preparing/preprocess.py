"""Job: run ORT's own pre-processing: infer shapes, fold constants, remove Identity nodes after weights."""

from __future__ import annotations

import contextlib
import tempfile
from typing import Any

from onnxruntime.quantization.shape_inference import quant_pre_process

from workbench.worker.preparing import files


def run(source: str, target: str) -> dict[str, Any]:
    """Pre-process with symbolic shapes if ORT's inference knows every operator, else without."""
    large = files.is_large(source)
    where: dict[str, Any] = {
        "save_as_external_data": large,
        "all_tensors_to_one_file": large,
        "external_data_location": files.DATA if large else None,
    }
    notes = []
    named = files.named(source, target)
    try:
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):  # a failure leaves a file
            quant_pre_process(named, target, auto_merge=True, **where)
    except Exception as error:  # noqa: BLE001 - "Incomplete symbolic shape inference" is a bare Exception
        notes.append(f"without symbolic shape inference, which failed: {str(error)[:200]}")
        quant_pre_process(named, target, skip_symbolic_shape=True, **where)
    files.forget(named, source)
    return files.answer(source, target, notes)
