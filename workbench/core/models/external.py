"""Weight files beside the model: their names, their sizes, and whether ORT may open them."""

from __future__ import annotations

import os
import posixpath
import re
from collections import Counter
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path, PureWindowsPath
from typing import TYPE_CHECKING

from workbench.core.errors import ModelError
from workbench.core.models.structure import tensors
from workbench.core.text import nearest, shorten

if TYPE_CHECKING:
    from onnx import ModelProto, TensorProto

_INSIDE = "Keep the weights in the model's own folder, and save the model with a plain file name as location"
MOST_FETCHED = 1000  # files beside one model: exporters that write one file per tensor make a few hundred
_RESAVE = "Save the model again with its external data, or copy both files again"


@dataclass(frozen=True, slots=True)
class ExternalFile:
    """One weight file. `name` is relative to the model's folder, and untrusted text."""

    name: str
    size_bytes: int
    tensors: int


def locations(model: ModelProto, label: str) -> Counter[str]:
    """Count the tensors of each weight file; refuse a file outside the model's folder."""
    counts: Counter[str] = Counter()
    for tensor in tensors(model):
        if is_external(tensor):
            counts[_location(tensor, label)] += 1
    for location in counts:
        windows = PureWindowsPath(location)
        if location.startswith("/") or windows.drive or windows.root:
            raise ModelError(f"{label} wants weights from the absolute path {shorten(location)!r}", _INSIDE)
        if (
            min(accumulate(-1 if part == ".." else 1 for part in windows.parts), default=0) < 0
        ):  # it climbs out
            raise ModelError(f"{label} wants weights from outside its folder: {shorten(location)!r}", _INSIDE)
    return counts


def beside_locations(model: ModelProto, own_name: str, label: str) -> tuple[str, ...]:
    """Return the weight files of a downloaded model: a bounded number, without the model file."""
    names = locations(model, label)
    if len(names) > MOST_FETCHED:
        raise ModelError(
            f"{label} keeps its weights in {len(names):,} files; at most {MOST_FETCHED:,} are fetched",
            "Download its folder with another tool and load the path, or save it with one file of weights",
        )
    for name in names:
        if posixpath.normpath(name).casefold() == own_name.casefold():
            raise ModelError(
                f"{label} names {shorten(name)!r}, its own file, as its file of weights", _RESAVE
            )
    return tuple(names)


def external_files(model: ModelProto, path: Path, label: str) -> tuple[ExternalFile, ...]:
    """Return the weight files of the model at `path`; refuse a missing or short one."""
    counts = locations(model, label)
    sizes = {location: _size(path, location, label) for location in counts}
    for tensor in tensors(model):
        if is_external(tensor):
            _check_extent(tensor, sizes[_location(tensor, label)], label)
    return tuple(ExternalFile(name, sizes[name], count) for name, count in sorted(counts.items()))


def is_external(tensor: TensorProto) -> bool:
    """Return whether the tensor's elements are in another file."""
    return bool(tensor.data_location == tensor.EXTERNAL)


def _location(tensor: TensorProto, label: str) -> str:
    for entry in tensor.external_data:
        if entry.key == "location" and entry.value and "\0" not in entry.value:
            return str(entry.value)
    raise ModelError(
        f"{label} says that the tensor {shorten(tensor.name)!r} lies in another file, but not in which",
        _RESAVE,
    )


def _size(path: Path, location: str, label: str) -> int:
    file = path.parent / location
    try:
        real = Path(os.path.realpath(file))
        inside = (Path(os.path.realpath(path.parent)), Path(os.path.realpath(path)).parent)
        if not any(real.is_relative_to(folder) for folder in inside):  # the second: a download cache of links
            raise ModelError(
                f"{label} wants weights from {shorten(location)!r}, a link that leads out of its folder",
                _INSIDE,
            )
        if not real.is_file():
            absence = "it is no regular file" if file.exists() else "it is missing"
            raise ModelError(
                f"{label} needs the file {shorten(location)!r} beside it: {absence}", _beside(file)
            )
        return real.stat().st_size
    except OSError as error:
        raise ModelError(
            f"{label} needs the file {shorten(location)!r}, which cannot be read: {error.strerror}", _INSIDE
        ) from error


def _beside(file: Path) -> str:
    names = [entry.name for entry in file.parent.iterdir()] if file.parent.is_dir() else []
    like = nearest(file.name, names)
    hint = f"; there is {', '.join(repr(shorten(name)) for name in like)}" if like else ""
    return f"Copy the file of weights into the model's folder under exactly this name{hint}"


def _check_extent(tensor: TensorProto, size: int, label: str) -> None:
    numbers: dict[str, int] = {}
    for entry in tensor.external_data:
        if entry.key in ("offset", "length"):
            if not re.fullmatch(r"[0-9]{1,19}", entry.value):
                raise ModelError(
                    f"{label}: the {entry.key} of {shorten(tensor.name)!r} in its file is "
                    f"{shorten(entry.value)!r}, not a number of bytes from 0 up",
                    _RESAVE,
                )
            numbers[entry.key] = int(entry.value)
    end = numbers.get("offset", 0) + numbers.get("length", 0)
    if end > size:
        raise ModelError(
            f"{label}: {shorten(tensor.name)!r} lies at byte {end:,} of a file of only {size:,} bytes",
            _RESAVE,
        )
