"""Files from the browser, kept in the cache under the hash of their content, and files for the browser."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from workbench.core.errors import ModelError
from workbench.core.home import cache_folder
from workbench.core.models.loading import SUFFIXES
from workbench.core.stored_files import trim
from workbench.core.worker.folder import WorkerFolder

# on Windows "C:x.onnx" is another drive's, "x.onnx:y" a hidden stream
_FOREIGN = re.compile(r"[\x00-\x1f\x7f:]")


def keep(files: Sequence[Mapping[str, Any]]) -> Path:
    """Write a model and its data files into a folder of their own; return the model's path."""
    contents = {plain_name(file["name"]): bytes(file["content"]) for file in files}
    if len({name.casefold() for name in contents}) != len(files):
        raise ModelError("Two of the uploaded files have the same name.", "Rename one and upload them again.")
    models = [name for name in contents if name.endswith(SUFFIXES)]
    if len(models) != 1:
        raise ModelError(
            f"{len(contents)} files were uploaded, with {len(models)} models among them.",
            "Upload one .onnx file, together with its data files, if it has any.",
        )
    digest = hashlib.sha256()
    for name, data in sorted(contents.items()):
        digest.update(f"{len(name)} {name} {len(data)} ".encode() + data)
    folder = cache_folder() / "uploads" / digest.hexdigest()[:24]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, data in contents.items():
            if not ((folder / name).exists() and (folder / name).read_bytes() == data):  # may be in use
                (folder / name).write_bytes(data)
        trim(folder.parent)
    except OSError as error:
        raise ModelError(
            f"The upload cannot be written to {folder}: {error.strerror}",
            "Make room there, or set WORKBENCH_HOME.",
        ) from error
    return folder / models[0]


def plain_name(name: object) -> str:
    """Return the name without its folders: a browser may send any path."""
    last = PurePosixPath(str(name).replace("\\", "/")).name
    if last in ("", ".", "..") or _FOREIGN.search(last) or len(last.encode("utf-8", "replace")) > 200:
        raise ModelError(f"{str(name)[:80]!r} is no name for a file.", "Rename it and upload it again.")
    return last


def content_of(write: Callable[[Path], Path], name: str) -> bytes:
    """Return the content of the file that `write` makes, for a browser on another machine than the kernel."""
    with WorkerFolder() as folder:
        return write(folder / name).read_bytes()
