"""An interactive tuning bench for ONNX Runtime: turn a knob, see what ORT did, get a verdict to trust."""

from __future__ import annotations

__version__ = "0.1.0"
