"""Job: run two files with every tensor in view, and sum up how far the tensors of one name are apart."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime as ort

from workbench.core.worker.values import read_values

BEFORE_CAST = "InsertedPrecisionFreeCast_"  # ORT renames an output that it computes in float32 for float16
MOST_OF_IT = 0.9  # of the difference: a channel with as much is the one that is wrong
LEAST_CHANNELS, MOST_CHANNELS = 4, 4096
WEIGHTS_FOLDER = "session.model_external_initializers_file_folder_path"


def run(first: str, second: str, feeds: list[str]) -> dict[str, Any]:
    """Return the energy of each tensor of the first file, that of the difference, and its channel."""
    sessions = [_exposed(Path(path)) for path in (first, second)]
    sums: dict[str, _Energies] = {}
    for pair in zip(*(read_values(Path(path)) for path in feeds), strict=True):
        ours, theirs = (_values(session, feed) for session, feed in zip(sessions, pair, strict=True))
        for name, value in ours.items():
            other = theirs.get(name)
            if other is not None and other.shape == value.shape:  # a blocked layout has another one
                sums.setdefault(name, _Energies()).add(value, other)
    return {"tensors": [energies.to_dict(name) for name, energies in sums.items()]}


class _Energies:
    """The energy of a tensor and of its difference, in all and by channel, over all feeds."""

    def __init__(self) -> None:
        self.signal = self.noise = 0.0
        self._by_channel: dict[int, Any] = {}  # by the axis of the channels

    def add(self, ours: Any, theirs: Any) -> None:
        ours, theirs = ours.astype(np.float64), theirs.astype(np.float64)  # of one tensor at a time
        noise = np.square(theirs - ours)
        self.signal += float(np.square(ours).sum())
        self.noise += float(noise.sum())
        for axis in {1, ours.ndim - 1} if ours.ndim > 1 else ():
            if LEAST_CHANNELS <= ours.shape[axis] <= MOST_CHANNELS:
                sums = noise.sum(axis=tuple(other for other in range(ours.ndim) if other != axis))
                before = self._by_channel.get(axis, 0.0)
                self._by_channel[axis] = before + sums if np.shape(before) in ((), sums.shape) else sums

    def to_dict(self, name: str) -> dict[str, Any]:
        """Return the sums, and the axis and channel that most of the difference lies in."""
        worst = {axis: int(np.argmax(sums)) for axis, sums in self._by_channel.items()}
        ruined = (
            (axis, channel)
            for axis, channel in worst.items()
            if 0 < MOST_OF_IT * self.noise <= self._by_channel[axis][channel]
        )
        axis, channel = next(ruined, (None, None))
        return {"name": name, "signal": self.signal, "noise": self.noise, "axis": axis, "channel": channel}


def _exposed(path: Path) -> ort.InferenceSession:
    """Return a session whose outputs are the outputs of all nodes but constants; ORT infers their types."""
    model = onnx.load(path, load_external_data=False)
    there = {value.name for value in model.graph.output}
    nodes = (node for node in model.graph.node if node.op_type != "Constant")
    names = (name for node in nodes for name in node.output if name and name not in there)
    model.graph.output.extend(onnx.ValueInfoProto(name=name) for name in names)
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.add_session_config_entry(WEIGHTS_FOLDER, str(path.parent))
    return ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def _values(session: ort.InferenceSession, feed: dict[str, Any]) -> dict[str, Any]:
    names = [output.name for output in session.get_outputs()]
    values = zip(names, session.run(None, feed), strict=True)
    arrays = ((name, value) for name, value in values if isinstance(value, np.ndarray))
    numbers = {name: value for name, value in arrays if value.dtype.kind in "fiub"}
    return {**{name.removeprefix(BEFORE_CAST): value for name, value in numbers.items()}, **numbers}
