"""Model files of a job: copies with other names or weights inside, and what the job answers of them."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import onnx

from workbench.core.models.naming import name_nodes, unnamed
from workbench.core.rewrites.graphs import with_bodies
from workbench.core.worker.preparing.conversions import has_external, save


def whole(source: str, folder: str) -> str:
    """Return the file, or a copy with internal weights, which ORT's own format requires."""
    if not has_external(source):
        return source
    path = str(Path(folder) / "whole.onnx")
    onnx.save(onnx.load(source), path)
    return path


def named(source: str, target: str) -> str:
    """Return the file, or a copy beside the target with a name for every node, as quantizers require."""
    if not unnamed(onnx.load(source, load_external_data=False)):
        return source
    model = onnx.load(source)
    name_nodes(model)
    return copy_beside(model, target, "named")


def copy_beside(model: onnx.ModelProto, target: str, folder_name: str) -> str:
    """Save a changed model in a folder beside the target."""
    folder = Path(target).parent / folder_name
    folder.mkdir()
    path = str(folder / "model.onnx")
    save(model, path)
    return path


def forget(copy: str, source: str) -> None:
    """Remove the copy of a changed model, if any."""
    if copy != source:
        shutil.rmtree(Path(copy).parent)


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
