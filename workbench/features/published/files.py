"""The published files of a model, in a folder or on the hub, and which of them is the float32 one."""

from __future__ import annotations

import os
import posixpath
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath

from workbench.core.errors import ModelError
from workbench.core.models import load
from workbench.core.text import counted, path_text

_MOST_FILES = 24
OTHER_ARITHMETIC = ("q4", "q8", "int4", "int8", "quant", "fp16", "float16", "bnb", "half", "qdq", "opt")
HUB = "hf://"


def files_of(source: str | os.PathLike[str], only: str | None = None) -> dict[str, str]:
    """Return the published files by name, of those that the pattern `only` names."""
    where = str(source) if str(source).startswith(HUB) else path_text(Path(source))
    files = of_hub(where) if where.startswith(HUB) else of_folder(Path(source))
    chosen = {name: place for name, place in files.items() if only is None or fnmatch(name, only)}
    if not 2 <= len(chosen) <= _MOST_FILES:
        named = "" if only is None else f" that {only} names"
        raise ModelError(
            f"{where} has {counted(len(chosen), 'file')} of models{named}, and 2 to {_MOST_FILES} can be "
            "compared",
            "Give a folder that holds the files to compare, name them with only='encoder*', or compare some: "
            "wb.compare(first, second, …)",
        )
    return chosen


def of_folder(folder: Path) -> dict[str, str]:
    """Return the .onnx files of a folder and of those in it, by name."""
    if not folder.is_dir():
        raise ModelError(
            f"{path_text(folder)} is no folder", "Give a folder with .onnx files, or hf://org/repo"
        )
    return {path.relative_to(folder).as_posix(): str(path) for path in sorted(folder.rglob("*.onnx"))}


def of_hub(address: str) -> dict[str, str]:
    """Return the .onnx files of a repository of the hub, by name."""
    from huggingface_hub import HfApi

    repo, _, revision = address.removeprefix(HUB).partition("@")
    try:
        api = HfApi(endpoint=os.environ.get("HF_ENDPOINT") or None)
        names = api.list_repo_files(repo, revision=revision or None)
    except Exception as error:  # which HTTP library fails, and so its errors, changes with the hub's version
        raise ModelError(
            f"the files of {address} cannot be listed: {str(error)[:300]}",
            "Check the name, hf://org/repo, and the connection; a folder of downloaded files does as well",
        ) from error
    mark = f"@{revision}" if revision else ""
    onnx = sorted(name for name in names if name.endswith(".onnx"))
    return {name: f"{HUB}{repo}/{name}{mark}" for name in onnx}


def baseline_of(files: dict[str, str], asked: str | None) -> str:
    """Return the name of the float32 file: the shortest that speaks of no other arithmetic.

    A name speaks with the folders that tell files apart: fp16/model.onnx beside fp32/model.onnx.
    """
    if asked is not None:
        if asked not in files:
            raise ModelError(f"there is no file {asked!r}", f"The files are {', '.join(files)}")
        return asked
    shared = posixpath.commonpath([posixpath.dirname(name) for name in files])
    words = {name: str(PurePosixPath(name).relative_to(shared).with_suffix("")).lower() for name in files}
    plain = [name for name, word in words.items() if not any(mark in word for mark in OTHER_ARITHMETIC)]
    if not plain:
        raise ModelError(
            "every file's name speaks of other arithmetic, so the float32 one is not known",
            f"Name it: baseline=one of {', '.join(files)}",
        )
    return min(plain, key=lambda name: (len(name), name))


def place(address: str) -> str:
    """Return the path of a file, downloaded where it is on the hub."""
    return str(load(address).path) if address.startswith(HUB) else address
