"""Libraries of custom operators, registered with sessions of ours and of ORT's own tools."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import onnxruntime as ort

from workbench.errors import RunFailed


def register(options: ort.SessionOptions, libraries: Sequence[str]) -> None:
    """Register the operators of these libraries, which are loaded here, unless `use_everywhere` did."""
    for library in libraries:
        if not Path(library).is_file():
            raise RunFailed(f"custom_ops: there is no library {library[:300]!r}", "give the path of a file")
        if library not in getattr(options, "registered", ()):
            options.register_custom_ops_library(library)


def use_everywhere(libraries: Sequence[str]) -> None:
    """Register the libraries with all options made in this process, since ORT's tools make sessions too."""

    class Options(ort.SessionOptions):  # type: ignore[misc]
        registered: tuple[str, ...] = ()

        def __init__(self) -> None:
            super().__init__()
            register(self, libraries)
            self.registered = tuple(libraries)

    ort.SessionOptions = Options
