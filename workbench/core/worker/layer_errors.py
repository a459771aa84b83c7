"""Job: compare every intermediate tensor of a quantized model with the float one, matched by ORT's own tools.

The job reads one item at a time: all tensors of one run of both models, and only sums of earlier items.
"""

from __future__ import annotations

import math
import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime as ort
from onnx import helper, numpy_helper
from onnxruntime.quantization import qdq_loss_debug as ort_tools

from workbench.core.worker.values import read_values

SAVED = "_ReshapedSavedOutput"  # the suffix of the outputs that ORT's tool adds
ONE_FILE_BYTES = 1 << 30
_QUANTIZED = "_quantized"
MOST_RATIO_VALUES = 1 << 20  # of a tensor, for its percentile


def run(baseline: str, quantized: str, feeds: list[str], qdq: bool) -> dict[str, Any]:
    """Compare both models on their two files of `feeds`; without `qdq`, compare tensors of the same name."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sessions = [_augmented(path, folder / str(at)) for at, path in enumerate((baseline, quantized))]
        tensors: dict[str, _Sums] = {}
        bounds = _bounds(baseline) if qdq else None
        pairs = list(zip(*(read_values(Path(path)) for path in feeds), strict=True))
        for ours, theirs in pairs:
            _tally(tensors, _activations(sessions[0], ours), _activations(sessions[1], theirs), bounds)
        weights = _weights_by_tool(folder) if qdq else _weights_by_name(baseline, quantized)
    return {
        "items": len(pairs),
        "tensors": [{"tensor": name, **sums.to_dict()} for name, sums in tensors.items()],
        "weights": weights,
    }


class _Sums:
    """Sums of one tensor over items."""

    def __init__(self) -> None:
        self.signal = self.noise = 0.0
        self.rounded: list[float] | None = None  # signal and noise of this tensor's own rounding
        self.low, self.high, self.count = math.inf, -math.inf, 0
        self.usual = 0.0  # the 99.9th percentile of the magnitudes, the largest of any item

    def add(self, ours: Any, theirs: Any) -> None:
        signal, noise = _both(ours, theirs)
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
        self.rounded = [old + new for old, new in zip(sums, _both(before, after), strict=True)]

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
    bounds: dict[str, tuple[float, float]] | None,
) -> None:
    """Add the tensors that ORT matches around Q and DQ nodes, then tensors of one name in both models."""
    if bounds is not None:
        as_lists = [{name: [value] for name, value in outputs.items()} for outputs in (theirs, ours)]
        matched = ort_tools.create_activation_matching(*as_lists)
        for name, match in matched.items():
            if "float" not in match:
                continue
            sums = tensors.setdefault(name, _Sums())
            after = _one(match["post_qdq"])
            sums.add(_one(match["float"]), after)
            before = _one(match["pre_qdq"])
            if name in bounds:  # ORT replaces the Relu by the clipping of QuantizeLinear, which is no error
                before = np.clip(before, *bounds[name])
            sums.add_rounding(before, after)
        ours = {name: value for name, value in ours.items() if name not in matched}
    for name, value in ours.items():
        other = theirs.get(name)
        if other is not None and other.shape == value.shape:
            tensors.setdefault(name, _Sums()).add(_wide(value), _wide(other))


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


def _activations(session: ort.InferenceSession, feed: dict[str, Any]) -> dict[str, Any]:
    names = [output.name for output in session.get_outputs()]
    values = session.run(None, feed)
    return {
        name.removesuffix(SAVED): np.asarray(value).reshape(-1)
        for name, value in zip(names, values, strict=True)
        if isinstance(value, np.ndarray) and value.dtype.kind == "f"
    }


def _augmented(path: str, folder: Path) -> ort.InferenceSession:
    """Return a session with all intermediate tensors, of a copy: ORT's tool writes beside its input."""
    folder.mkdir()
    copy = _copied(Path(path), folder)
    target = folder / "augmented.onnx"
    large = sum(file.stat().st_size for file in folder.iterdir()) > ONE_FILE_BYTES
    ort_tools.modify_model_output_intermediate_tensors(copy, target, save_as_external_data=large)
    _add_blockwise(target, large)
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    return ort.InferenceSession(str(target), options, providers=["CPUExecutionProvider"])


def _add_blockwise(path: Path, large: bool) -> None:
    """Add outputs of MatMulNBits: ONNX does not infer their types, so ORT's tool omits them."""
    model = onnx.load(path)
    there = {output.name for output in model.graph.output}
    added = False
    for node in [node for node in model.graph.node if node.op_type == "MatMulNBits"]:
        name = node.output[0]
        if name in there or name + SAVED in there:
            continue
        shape = next(
            tensor.name for tensor in model.graph.initializer if tensor.name.startswith("LinearReshape_")
        )
        model.graph.node.append(helper.make_node("Reshape", [name, shape], [name + SAVED], name=name + SAVED))
        model.graph.output.append(helper.make_tensor_value_info(name + SAVED, onnx.TensorProto.FLOAT, [None]))
        added = True
    if added:
        onnx.save(model, path, save_as_external_data=large)


def _copied(path: Path, folder: Path) -> Path:
    """Copy the model with its weights."""
    model = onnx.load(path, load_external_data=False)
    names = {
        entry.value
        for tensor in model.graph.initializer
        for entry in tensor.external_data
        if entry.key == "location"
    }
    for name in sorted(names):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path.parent / name, folder / name)
    return Path(shutil.copyfile(path, folder / "model.onnx"))


def _weights_by_tool(folder: Path) -> list[dict[str, Any]]:
    ort_tools._run_dequantize_linear = _dequantized
    copies = [str(folder / str(at) / "model.onnx") for at in range(2)]
    matched = ort_tools.create_weight_matching(*copies)
    errors = ort_tools.compute_weight_error(matched, _both)
    return [
        _weight(name, matched[name]["float"], errors[name]) for name in matched if matched[name]["float"].size
    ]


def _dequantized(weight: Any, scale: Any, zero: Any, channel_axis: int) -> Any:
    """Dequantize in wide integers: the tool's own function subtracts in 8 bits and wraps around."""
    if zero.size > 1:
        shape = [-1 if at == channel_axis % weight.ndim else 1 for at in range(weight.ndim)]
        scale, zero = scale.reshape(shape), zero.reshape(shape)
    return (weight.astype(np.int64) - zero.astype(np.int64)) * scale


def _weights_by_name(baseline: str, quantized: str) -> list[dict[str, Any]]:
    """Compare weights that the quantized file has in 16 bits, or as `name_quantized` with a scale."""
    ours = {tensor.name: tensor for tensor in onnx.load(baseline).graph.initializer}
    theirs = {tensor.name: tensor for tensor in onnx.load(quantized).graph.initializer}
    rows = []
    for name, tensor in ours.items():
        if tensor.data_type != onnx.TensorProto.FLOAT:
            continue
        restored = _restored(name, theirs)
        value = numpy_helper.to_array(tensor)
        if restored is not None and restored.shape == value.shape and value.size:
            rows.append(_weight(name, value, _both(value, restored)))
    return rows


def _restored(name: str, tensors: dict[str, onnx.TensorProto]) -> Any:
    if name in tensors and tensors[name].data_type in (onnx.TensorProto.FLOAT16, onnx.TensorProto.BFLOAT16):
        return numpy_helper.to_array(tensors[name]).astype(np.float32)
    names = [name + suffix for suffix in (_QUANTIZED, "_scale", "_zero_point")]
    if not all(name in tensors for name in names):
        return None
    integers, scale, zero = (numpy_helper.to_array(tensors[name]) for name in names)
    if scale.size > 1:
        axes = [axis for axis, size in enumerate(integers.shape) if size == scale.size]
        if not axes:
            return None
        # Channels are the last axis of a MatMul's weight, the first of a Conv's.
        axis = axes[-1] if integers.ndim == 2 else axes[0]
        shape = [-1 if at == axis else 1 for at in range(integers.ndim)]
        scale, zero = scale.reshape(shape), zero.reshape(shape)
    return (integers.astype(np.float32) - zero.astype(np.float32)) * scale


def _weight(name: str, value: Any, error: tuple[float, float]) -> dict[str, Any]:
    sizes = np.abs(value.astype(np.float64))
    return {
        "weight": name,
        "signal": error[0],
        "noise": error[1],
        "low": float(value.min()),
        "high": float(value.max()),
        "usual": float(np.percentile(sizes, 99.9)),
        "rms": float(np.sqrt(np.mean(sizes**2))),
        "elements": int(value.size),
    }


def _both(ours: Any, theirs: Any) -> tuple[float, float]:
    """Return the energy of the signal and of the difference."""
    left, right = (_wide(_one(side)) for side in (ours, theirs))
    return float(np.square(left).sum()), float(np.square(right - left).sum())


def _one(value: Any) -> Any:
    """Join the list of ORT's tools, which has one array per item."""
    return (
        np.concatenate([np.asarray(part).reshape(-1) for part in value]) if isinstance(value, list) else value
    )


def _wide(value: Any) -> Any:
    return np.asarray(value, np.float64)
