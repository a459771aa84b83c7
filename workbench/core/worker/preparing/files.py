"""Model files of a job: copies with other names or weights inside, and what the job answers of them."""

from __future__ import annotations

import contextlib
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import onnx
import onnxruntime as ort

from workbench.core.models.naming import name_nodes, unnamed
from workbench.core.rewrites.graphs import with_bodies
from workbench.core.worker.preparing.conversions import save


@contextlib.contextmanager
def named(source: str, target: str) -> Iterator[str]:
    """Yield the file, or a copy beside the target with a name for every node, as quantizers require."""
    if not unnamed(onnx.load(source, load_external_data=False)):
        yield source
        return
    model = onnx.load(source)
    name_nodes(model)
    with tempfile.TemporaryDirectory(dir=Path(target).parent) as folder:
        path = str(Path(folder) / "model.onnx")
        save(model, path)
        del model
        yield path


def on_cpu(path: str, *, optimized: bool = True) -> ort.InferenceSession:
    """Return a session that shows whether a file loads, without a word in the log."""
    options = ort.SessionOptions()
    options.log_severity_level = 4
    if not optimized:
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    return ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def operators(path: str) -> Counter[str]:
    """Return the number of nodes of each type, bodies included."""
    model = onnx.load(path, load_external_data=False)
    return Counter(node.op_type for graph in with_bodies(model.graph) for node in graph.node)


def answer(source: str, target: str, notes: list[str], **more: Any) -> dict[str, Any]:
    """Return the answer of a job: the operators before and after, and its notes."""
    return {
        "before": dict(operators(source)),
        "after": dict(operators(target)),
        "notes": notes,
        **more,
    }
