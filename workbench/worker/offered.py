"""What this version of ONNX Runtime offers; what it lacks is an error with a fix, never an AttributeError."""

from __future__ import annotations

from typing import Any


class NotOffered(Exception):
    """The error for what this version lacks: the problem and its fix, both in `args`."""


def member(owner: Any, name: str, fix: str = "update onnxruntime there, or leave this setting out") -> Any:
    """Return a member of onnxruntime or of one of its classes."""
    value = getattr(owner, name, None)
    if value is None:
        import onnxruntime as ort

        raise NotOffered(f"ONNX Runtime {ort.__version__} has no {name}", fix)
    return value
