"""Opening a model from a name, a path, an address, bytes or a ModelProto."""

from __future__ import annotations

import hashlib
import os
import threading
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING

from workbench.core import home
from workbench.core.config.user_session import is_session, model_of
from workbench.core.errors import ModelError
from workbench.core.models.external import locations
from workbench.core.models.model import Model
from workbench.core.models.structure import structure_of_bytes
from workbench.core.models.transfer import Progress
from workbench.core.stored_files import expanded, trim
from workbench.core.text import listed, nearest, path_text, public_address, shorten

if TYPE_CHECKING:
    from onnx import ModelProto

SUFFIXES = (".onnx", ".ort")  # of the files that ONNX Runtime loads
MAX_DOWNLOAD_BYTES = 16 * 10**9  # a guard against surprises, above the float16 weights of a 7 G model
MAX_DOWNLOAD_S = 4 * 3600.0  # for all files together: that size at 1 MB/s


def load(
    source: str | os.PathLike[str] | bytes | ModelProto | Model,
    *,
    progress: Progress | None = None,
    max_bytes: int = MAX_DOWNLOAD_BYTES,
    timeout_s: float = MAX_DOWNLOAD_S,
    cancel: threading.Event | None = None,
) -> Model:
    """Open a model: a sample's name, a path, a URL, `hf://org/repo/path@revision`, bytes or a ModelProto.

    Of a session of your own code it is the model that the session was made of.

    A URL may end in `#sha256=<64 hex digits>` of the .onnx file: then only a file with this hash is accepted,
    from the cache if present. A download ends after `max_bytes` or `timeout_s`, or when `cancel` is set.

    >>> load("mobilenetv2").describe().family
    'vision'
    """
    if isinstance(source, Model):
        return source
    if isinstance(source, (bytes, bytearray, memoryview)):
        return _from_bytes(bytes(source), "model")
    if isinstance(source, str):
        if source.startswith(("http://", "https://")):
            from workbench.core.models.download import download

            return _opened(download(source, progress, max_bytes, timeout_s, cancel))
        if source.startswith("hf://"):
            from workbench.core.models.hub import fetch

            return _opened(fetch(source, progress, max_bytes, timeout_s, cancel))
        if "://" in source[:40]:
            scheme = source.partition("://")[0]
            raise ModelError(
                f"{shorten(public_address(source))!r} has the scheme {shorten(scheme)!r}",
                "Give a path, or a URL that begins with http://, https:// or hf://",
            )
        return _from_text(source, progress)
    if is_session(source):
        return load(model_of(source))
    if isinstance(source, os.PathLike):
        return _from_path(Path(source))
    if hasattr(source, "SerializeToString") and hasattr(source, "graph"):
        return _from_proto(source)
    raise ModelError(
        f"A {type(source).__name__} is no model",
        "Give a sample's name, a path, a URL, hf://org/repo/path, bytes or an onnx.ModelProto",
    )


def _opened(path: Path) -> Model:
    return Model(path, path.stem)


def _from_text(source: str, progress: Progress | None) -> Model:
    if not source.strip():
        raise ModelError("No model was named: the text is empty", "Give the path of an .onnx file")
    path = expanded(source)
    if not _exists(path) and Path(source).name == source and path.suffix not in SUFFIXES:
        from workbench.core.models.samples import sample_dims, sample_names, sample_path

        if source in sample_names():
            return Model(sample_path(source, progress=progress), source, usual_dims=sample_dims(source))
        like = nearest(source, list(sample_names()))
        raise ModelError(
            f"{shorten(source)!r} is neither a file here nor a sample" + _did_you_mean(like),
            f"Give the path of an .onnx file, or one of the samples: {listed(list(sample_names()), 30)}",
        )
    return _from_path(path)


def _from_path(path: Path) -> Model:
    path = expanded(path)
    label = path_text(path)
    if "\0" in str(path):
        raise ModelError(f"{label} is no path: it holds a zero byte", "Give the path of an .onnx file")
    try:
        if path.is_dir():
            inside = sorted(entry.name for entry in path.iterdir() if entry.suffix == ".onnx")
            raise ModelError(
                f"{label} is a folder", f"Give the file in it; its .onnx files are: {listed(inside)}"
            )
        if not path.exists():
            raise ModelError(f"{label} does not exist" + _did_you_mean(_neighbours(path)), "Check the path")
    except OSError as error:
        raise ModelError(
            f"{label} cannot be read: {error.strerror}", "Check the path and its rights"
        ) from error
    return _opened(path.absolute())


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):  # not a file: too long for a name, or a null byte
        return False


def _neighbours(path: Path) -> list[str]:
    if not path.parent.is_dir():
        return []
    names = [entry.name for entry in path.parent.iterdir() if entry.suffix == ".onnx"]
    return nearest(path.name, names) or sorted(names)[:3]


def _did_you_mean(names: list[str]) -> str:
    return f"; near it there is {listed(names)}" if names else ""


def _from_proto(proto: ModelProto) -> Model:
    try:
        data = proto.SerializeToString()
    except Exception as error:  # each protobuf backend has its own private exception for "too large"
        raise ModelError(
            f"The ModelProto cannot be written: {shorten(str(error), 200)}",
            "Save it with onnx.save(..., save_as_external_data=True) and load that file",
        ) from error
    return _from_bytes(data, shorten(proto.graph.name) or "model")


def _from_bytes(data: bytes, name: str) -> Model:
    """Write bytes into the cache under their hash, since the worker opens a file."""
    label = f"The {'model in memory' if name == 'model' else f'model {name!r}'}"
    if locations(structure_of_bytes(data, label), label):
        raise ModelError(
            f"{label} keeps its weights in other files, and bytes do not say in which folder",
            "Load it from its path",
        )
    folder = home.cache_folder() / "models"
    path = folder / f"{hashlib.sha256(data).hexdigest()}.onnx"
    try:
        if not (path.exists() and path.read_bytes() == data):
            folder.mkdir(parents=True, exist_ok=True)
            with NamedTemporaryFile(dir=folder, delete=False) as file:
                file.write(data)
            Path(file.name).replace(path)
            trim(folder)
    except OSError as error:
        raise ModelError(
            f"{label} cannot be written to {folder}: {error.strerror}",
            "Make room there, or set WORKBENCH_HOME",
        ) from error
    return Model(path, name)
