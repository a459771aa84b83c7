"""Job: run two files with every tensor in view, and sum up how far the tensors of one name are apart."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime as ort

from workbench.core.worker.values import read_values

BEFORE_CAST = "InsertedPrecisionFreeCast_"  # ORT renames an output that it computes in float32 for float16
WEIGHTS_FOLDER = "session.model_external_initializers_file_folder_path"


def run(first: str, second: str, feeds: list[str]) -> dict[str, Any]:
    """Return the energy of each tensor of the first file, and that of the difference, over all feeds."""
    sessions = [_exposed(Path(path)) for path in (first, second)]
    sums: dict[str, tuple[float, float]] = {}
    for pair in zip(*(read_values(Path(path)) for path in feeds), strict=True):
        ours, theirs = (_values(session, feed) for session, feed in zip(sessions, pair, strict=True))
        for name, value in ours.items():
            other = theirs.get(name)
            if other is not None and other.shape == value.shape:  # a blocked layout has another one
                signal, noise = sums.get(name, (0.0, 0.0))
                noise += float(np.square(other - value).sum())
                sums[name] = signal + float(np.square(value).sum()), noise
    return {"tensors": [[name, *energies] for name, energies in sums.items()]}


def _exposed(path: Path) -> ort.InferenceSession:
    """Return a session whose outputs are the outputs of all nodes; ORT infers their types."""
    model = onnx.load(path, load_external_data=False)
    there = {value.name for value in model.graph.output}
    names = (name for node in model.graph.node for name in node.output if name and name not in there)
    model.graph.output.extend(onnx.ValueInfoProto(name=name) for name in names)
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.add_session_config_entry(WEIGHTS_FOLDER, str(path.parent))
    return ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def _values(session: ort.InferenceSession, feed: dict[str, Any]) -> dict[str, Any]:
    names = [output.name for output in session.get_outputs()]
    values = zip(names, session.run(None, feed), strict=True)
    numbers = ((name, value) for name, value in values if isinstance(value, np.ndarray))
    wide = {name: value.astype(np.float64) for name, value in numbers if value.dtype.kind in "fiub"}
    return {**{name.removeprefix(BEFORE_CAST): value for name, value in wide.items()}, **wide}
