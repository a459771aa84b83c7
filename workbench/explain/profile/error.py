"""The one error of reading a trace; damage inside a trace is a note, not an error."""

from __future__ import annotations

from workbench.errors import WorkbenchError


class ProfileError(WorkbenchError):
    """A file that is no trace of ONNX Runtime, or that cannot be read."""
