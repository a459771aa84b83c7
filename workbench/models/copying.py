"""A copy of a model file with its weights."""

from __future__ import annotations

import threading
from pathlib import Path

from workbench.background import check_cancel
from workbench.models.external import beside_locations
from workbench.models.model import Model
from workbench.text import shorten

_COPY_BYTES = 1 << 20


def copy_model(model: Model, folder: Path, cancel: threading.Event | None = None) -> Path:
    """Copy the file and its external weights into a new folder; return the copy, model.onnx or model.ort."""
    folder.mkdir(parents=True)
    copy = folder / f"model{model.path.suffix}"
    _copy(model.path, copy, cancel)
    for location in (
        beside_locations(model.structure, copy.name, shorten(model.name)) if model.external else ()
    ):
        (folder / location).parent.mkdir(parents=True, exist_ok=True)
        _copy(model.path.parent / location, folder / location, cancel)
    return copy


def _copy(source: Path, target: Path, cancel: threading.Event | None) -> None:
    with source.open("rb") as reading, target.open("wb") as writing:
        while chunk := reading.read(_COPY_BYTES):
            writing.write(chunk)
            check_cancel(cancel)
