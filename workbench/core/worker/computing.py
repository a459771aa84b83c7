"""Job: compute all outputs of a file, in the environment whose ONNX Runtime is meant."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime as ort

from workbench.core.worker.values import read_values, write_values

WEIGHTS_FOLDER = "session.model_external_initializers_file_folder_path"


def run(model: str, weights: str, feeds: str, target: str) -> dict[str, Any]:
    """Write the outputs of each feed into a file of its own; `weights` is the folder of external ones."""
    content = Path(model).read_bytes()
    os.chdir(weights)  # ONNX Runtime 1.20 has no entry for the folder and looks here
    session = session_of(content, weights)
    files = []
    for at, feed in enumerate(read_values(Path(feeds))):
        files.append(f"{target}.{at}")
        write_values(Path(files[-1]), [outputs_of(session, feed)])
    return {"files": files}


def session_of(model: bytes, weights: str) -> ort.InferenceSession:
    """Return a session that optimizes nothing."""
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.add_session_config_entry(WEIGHTS_FOLDER, weights)
    return ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def outputs_of(session: ort.InferenceSession, feed: dict[str, Any]) -> dict[str, Any]:
    """Return the outputs that are arrays of numbers."""
    names = [output.name for output in session.get_outputs()]
    values = zip(names, session.run(None, feed), strict=True)
    arrays = ((name, value) for name, value in values if isinstance(value, np.ndarray))
    return {name: value for name, value in arrays if value.dtype.kind in "fiub"}
