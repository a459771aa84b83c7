"""The module that an exporter says a node came from, in the node's metadata."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onnx import NodeProto

NAME_SCOPES = "pkg.torch.onnx.name_scopes"  # what torch's newer exporter writes: module paths, the node last
NO_MODULE = "_empty_nn_module_stack"  # its word for a node of no module
_MOST_LETTERS = 1 << 16


def module_of(node: NodeProto) -> str:
    """Return the module path, such as "model.encoder.layer.0"; "" where the metadata has none."""
    text = next((entry.value for entry in node.metadata_props if entry.key == NAME_SCOPES), "")
    if not text or len(text) > _MOST_LETTERS:
        return ""
    try:
        parts = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return ""
    module = parts[-2] if isinstance(parts, list) and len(parts) > 1 else None
    return module if isinstance(module, str) and not module.startswith(NO_MODULE) else ""


def dotted(text: str) -> list[str]:
    """Split `encoder.layer.0.attention` into encoder, layer.0, attention: a number stays with its name."""
    parts: list[str] = []
    for part in text.split("."):
        if part.isdecimal() and parts:
            parts[-1] = f"{parts[-1]}.{part}"
        elif part:
            parts.append(part)
    return parts
