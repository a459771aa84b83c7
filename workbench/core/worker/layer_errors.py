"""Job: compare every intermediate tensor and every weight of a quantized model with the float one.

The job reads one item at a time: all tensors of one run of both models, and only sums of earlier items.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import numpy_helper

from workbench.core.worker.computing import outputs_of
from workbench.core.worker.exposing import roundings, session_of_tensors
from workbench.core.worker.values import read_values

BEFORE_OUTPUT = "_QuantizeLinear_Input"  # ORT's suffix of what is rounded to become an output of the model
MOST_RATIO_VALUES = 1 << 20  # of a tensor, for its percentile


def run(baseline: str, quantized: str, feeds: list[str], qdq: bool) -> dict[str, Any]:
    """Compare both models on their two files of `feeds`; without `qdq`, compare tensors of the same name."""
    sessions = [session_of_tensors(path) for path in (baseline, quantized)]
    tensors: dict[str, _Sums] = {}
    rounded = roundings(onnx.load(quantized, load_external_data=False).graph.node) if qdq else {}
    bounds = _bounds(baseline) if qdq else {}
    pairs = list(zip(*(read_values(Path(path)) for path in feeds), strict=True))
    for feed_pair in pairs:
        ours, theirs = (
            {name: value for name, value in {**feed, **outputs_of(session, feed)}.items() if _is_float(value)}
            for session, feed in zip(sessions, feed_pair, strict=True)
        )
        _tally(tensors, ours, theirs, rounded, bounds)
    return {
        "items": len(pairs),
        "tensors": [{"tensor": name, **sums.to_dict()} for name, sums in tensors.items()],
        "weights": _weights(baseline, quantized),
    }


def _is_float(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.kind == "f"


class _Sums:
    """Sums of one tensor over items."""

    def __init__(self) -> None:
        self.signal = self.noise = 0.0
        self.rounded: list[float] | None = None  # signal and noise of this tensor's own rounding
        self.low, self.high, self.count = math.inf, -math.inf, 0
        self.usual = 0.0  # the 99.9th percentile of the magnitudes, the largest of any item

    def add(self, ours: Any, theirs: Any) -> None:
        signal, noise = _energies(ours, theirs)
        self.signal += signal
        self.noise += noise
        self.count += ours.size
        if ours.size:
            self.low, self.high = min(self.low, float(ours.min())), max(self.high, float(ours.max()))
            sizes = np.abs(ours.reshape(-1))
            if sizes.size > MOST_RATIO_VALUES:
                sizes = sizes[:: sizes.size // MOST_RATIO_VALUES + 1]
            self.usual = max(self.usual, float(np.percentile(sizes, 99.9)))

    def add_rounding(self, before: Any, after: Any) -> None:
        sums = self.rounded or [0.0, 0.0]
        self.rounded = [old + new for old, new in zip(sums, _energies(before, after), strict=True)]

    def to_dict(self) -> dict[str, Any]:
        known = self.count > 0 and math.isfinite(self.low) and math.isfinite(self.high)
        return {
            "signal": self.signal,
            "noise": self.noise,
            "rounding": self.rounded,
            "low": self.low if known else None,
            "high": self.high if known else None,
            "usual": self.usual if known else None,
            "rms": math.sqrt(self.signal / self.count) if self.count else None,
            "elements": self.count,
        }


def _tally(
    tensors: dict[str, _Sums],
    ours: dict[str, Any],
    theirs: dict[str, Any],
    rounded: dict[str, str | None],
    bounds: dict[str, tuple[float, float]],
) -> None:
    """Add the tensors that Q and DQ nodes round, as the next node reads them, then those of one name."""
    for name, restored in rounded.items():
        own = name.removesuffix(BEFORE_OUTPUT)
        if own not in ours or name not in theirs or restored not in theirs:
            continue
        value, before, after = ours.pop(own), theirs[name], theirs[restored]
        if value.shape != after.shape:
            continue
        sums = tensors.setdefault(own, _Sums())
        sums.add(value, after)
        if own in bounds:  # ORT replaces the Relu by the clipping of QuantizeLinear, which is no error
            before = np.clip(before, *bounds[own])
        sums.add_rounding(before, after)
    for name, value in ours.items():
        other = theirs.get(name)
        if other is not None and other.shape == value.shape:
            tensors.setdefault(name, _Sums()).add(value, other)


def _bounds(path: str) -> dict[str, tuple[float, float]]:
    """Return the range of each Relu and Clip of the float model, by its output."""
    graph = onnx.load(path, load_external_data=False).graph
    constants = {tensor.name: tensor for tensor in graph.initializer if not tensor.external_data}
    ranges = {}
    for node in graph.node:
        if node.op_type == "Relu":
            ranges[node.output[0]] = (0.0, math.inf)
        elif node.op_type == "Clip":
            ends = [constants.get(name) for name in [*node.input[1:3], "", ""][:2]]
            low, high = (None if end is None else float(numpy_helper.to_array(end).item()) for end in ends)
            ranges[node.output[0]] = (-math.inf if low is None else low, math.inf if high is None else high)
    return ranges


def _weights(baseline: str, quantized: str) -> list[dict[str, Any]]:
    """Compare each float32 weight with what the quantized file has in its place, if that is known."""
    ours = {tensor.name: tensor for tensor in onnx.load(baseline).graph.initializer}
    graph = onnx.load(quantized).graph
    theirs = {tensor.name: tensor for tensor in graph.initializer}
    readers = {node.input[0]: node for node in graph.node if node.op_type == "DequantizeLinear"}
    rows = []
    for name, tensor in ours.items():
        if tensor.data_type != onnx.TensorProto.FLOAT:
            continue
        restored = _restored(name, theirs, readers)
        value = numpy_helper.to_array(tensor)
        if restored is not None and restored.shape == value.shape and value.size:
            rows.append(_weight(name, value, restored))
    return rows


def _restored(name: str, tensors: dict[str, onnx.TensorProto], readers: dict[str, onnx.NodeProto]) -> Any:
    """Return a weight of 16 bits, or one that is called `name_quantized` with its scale, as floats."""
    if name in tensors and tensors[name].data_type in (onnx.TensorProto.FLOAT16, onnx.TensorProto.BFLOAT16):
        return numpy_helper.to_array(tensors[name]).astype(np.float32)
    stored = f"{name}_quantized"
    reader = readers.get(stored)
    names = [stored, f"{name}_scale", f"{name}_zero_point"] if reader is None else list(reader.input)
    if not all(part in tensors for part in names):
        return None
    integers, scale, *zeros = (numpy_helper.to_array(tensors[part]) for part in names)
    zero = zeros[0] if zeros else np.zeros_like(scale, np.int64)
    if scale.size > 1:
        axes = [axis for axis, size in enumerate(integers.shape) if scale.shape == (size,)]
        if not axes:
            return None
        # Channels are the last axis of a MatMul's weight, the first of a Conv's.
        axis = axes[-1] if integers.ndim == 2 else axes[0]
        axis = next((item.i for item in getattr(reader, "attribute", ()) if item.name == "axis"), axis)
        shape = [-1 if at == axis % integers.ndim else 1 for at in range(integers.ndim)]
        scale, zero = scale.reshape(shape), zero.reshape(shape)
    return (integers.astype(np.int64) - zero.astype(np.int64)) * scale


def _weight(name: str, value: Any, restored: Any) -> dict[str, Any]:
    signal, noise = _energies(value, restored)
    sizes = np.abs(value.astype(np.float64))
    return {
        "weight": name,
        "signal": signal,
        "noise": noise,
        "low": float(value.min()),
        "high": float(value.max()),
        "usual": float(np.percentile(sizes, 99.9)),
        "rms": float(np.sqrt(np.mean(sizes**2))),
        "elements": int(value.size),
    }


def _energies(ours: Any, theirs: Any) -> tuple[float, float]:
    """Return the energy of the signal and of the difference."""
    left, right = (np.asarray(side, np.float64) for side in (ours, theirs))
    return float(np.square(left).sum()), float(np.square(right - left).sum())
