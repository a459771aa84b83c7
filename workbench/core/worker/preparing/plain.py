"""Jobs that call one conversion each, or change names and shapes alone; `protocol.JOBS` names them."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import onnx
from onnx.shape_inference import InferenceError, infer_shapes
from onnxruntime.capi.onnxruntime_pybind11_state import NotImplemented

from workbench.core.errors import RunFailed
from workbench.core.models.naming import name_nodes
from workbench.core.worker.preparing import conversions, files, retries
from workbench.core.worker.preparing.float16 import to_float16


def dims(source: str, target: str, sizes: dict[str, int]) -> dict[str, Any]:
    """Fix symbolic dimensions of the file to sizes."""
    conversions.fix_dimensions(source, target, sizes)
    return files.answer(source, target, [])


def dynamic(source: str, target: str, **settings: Any) -> dict[str, Any]:
    """Quantize weights to 8-bit integers, and activations at run time."""
    conversions.quantize_at_run_time(source, target, **settings)
    bodies = retries.in_bodies(onnx.load(source, load_external_data=False))
    return files.answer(source, target, [], bodies=bodies)


def folding(source: str, target: str) -> dict[str, Any]:
    """Fold constants and remove no-ops by ORT's basic level, without changing matrix products."""
    with files.named(source, target) as named:
        conversions.fold(named, target)
    return files.answer(source, target, [])


def fusion(source: str, target: str, **settings: Any) -> dict[str, Any]:
    """Run ORT's transformer optimizer without its own call of ORT, which needs torch."""
    return files.answer(source, target, [], fused=conversions.fuse(source, target, **settings))


def preprocess(source: str, target: str) -> dict[str, Any]:
    """Run ORT's own pre-processing: infer shapes, fold constants, remove Identity nodes after weights."""
    with files.named(source, target) as named:
        problem = conversions.preprocess(named, target)
    notes = [f"without symbolic shape inference, which failed: {problem}"] if problem else []
    return files.answer(source, target, notes)


def weights(source: str, target: str, algorithm: str, **settings: Any) -> dict[str, Any]:
    """Quantize weights of matrix products to 2, 4 or 8 bits, in blocks."""
    try:
        conversions.quantize_weights(source, target, algorithm=algorithm, **settings)
    except ModuleNotFoundError as error:
        raise RunFailed(
            f"{algorithm} needs {error.name}, which is not installed in this environment",
            "install it, or use another algorithm of wb.WeightOnly",
        ) from error
    return files.answer(source, target, [])


def half(source: str, target: str, keep_io: bool, blocked_ops: list[str]) -> dict[str, Any]:
    """Convert to float16 by ORT's converter, which may leave an operator with types that it does not take."""
    kept, custom = to_float16(source, target, keep_io, blocked_ops)
    with contextlib.suppress(NotImplemented):  # another provider may have a kernel that the CPU lacks
        files.on_cpu(target, optimized=False)
    return files.answer(source, target, [], kept=kept, custom=custom)


def inference(source: str, target: str) -> dict[str, Any]:
    """Write the model with inferred shapes, or answer why the declared shapes contradict each other.

    The cost of ONNX's shape inference doubles with each level of nested functions.
    """
    model = onnx.load(source, load_external_data=False)
    try:
        inferred = infer_shapes(model, check_type=False, strict_mode=False, data_prop=True)
    except (InferenceError, RuntimeError, ValueError) as error:
        return {"problem": str(error)[:500]}
    Path(target).write_bytes(inferred.SerializeToString())
    return {"problem": None}


def naming(source: str, target: str) -> dict[str, Any]:
    """Copy a model with a name for every node; external weights stay in place."""
    model = onnx.load(source, load_external_data=False)
    count = name_nodes(model)
    Path(target).write_bytes(model.SerializeToString())
    return {"named": count}
