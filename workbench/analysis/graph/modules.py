"""The module that an exporter says a node came from, in the node's metadata."""

from __future__ import annotations

import ast

from onnx import NodeProto

NAME_SCOPES = "pkg.torch.onnx.name_scopes"  # what torch's newer exporter writes: module paths, the node last
NO_MODULE = "_empty_nn_module_stack"  # its word for a node of no module
MOST_LETTERS = 1 << 16


def module_of(node: NodeProto) -> str:
    """Return the module path, such as "model.encoder.layer.0"; "" where the metadata has none."""
    text = next((entry.value for entry in node.metadata_props if entry.key == NAME_SCOPES), "")
    if not text or len(text) > MOST_LETTERS:
        return ""
    try:
        parts = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return ""
    if not isinstance(parts, list) or len(parts) < 2 or not isinstance(parts[-2], str):
        return ""
    if parts[-2].startswith(NO_MODULE):
        return ""
    return parts[-2]


def dotted(text: str) -> list[str]:
    """Split `encoder.layer.0.attention` into encoder, layer.0, attention: a number stays with its name."""
    parts: list[str] = []
    for part in text.split("."):
        if part.isdecimal() and parts:
            parts[-1] = f"{parts[-1]}.{part}"
        elif part:
            parts.append(part)
    return parts
