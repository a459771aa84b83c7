"""`wb.published`: every published file of a model, judged against its float32 file."""

from __future__ import annotations

import os
import posixpath
import threading
from collections.abc import Callable
from pathlib import Path, PurePosixPath

from workbench.core.config import Config, PreparedModel
from workbench.core.errors import ModelError
from workbench.core.measure.limits import Limits, Progress
from workbench.core.models import load
from workbench.core.text import counted, path_text
from workbench.features.base.running import Feeds
from workbench.features.compare.call import compare
from workbench.features.compare.result import Comparison

_MOST_FILES = 24
OTHER_ARITHMETIC = ("q4", "q8", "int4", "int8", "quant", "fp16", "float16", "bnb", "half", "qdq", "opt")
HUB = "hf://"


def published(
    source: str | os.PathLike[str],
    *,
    baseline: str | None = None,
    inputs: Feeds = None,
    budget_s: float | None = None,
    progress: bool | Callable[[Progress], None] = True,
    seed: int = 0,
    cancel: threading.Event | None = None,
    limits: Limits | None = None,
    keep: bool = True,
) -> Comparison:
    """Compare every .onnx file of a folder, or of a repository of the hub, with the float32 one.

    `source` is a folder or `hf://org/repo`. The baseline is the file whose name speaks of no other
    arithmetic, or the file called `baseline`. A file that does not load is a failed run with its reason, one
    whose outputs are ruined is named before its speed, and `result.best(…)` says which to take under limits.
    """
    files = files_of(source)
    first = baseline_of(files, baseline)
    others = [Config(precision=PreparedModel(place(files[name]))) for name in files if name != first]
    return compare(
        load(files[first]), Config(), *others, inputs=inputs, budget_s=budget_s, progress=progress, seed=seed,
        cancel=cancel, limits=limits, keep=keep,
    )  # fmt: skip


def files_of(source: str | os.PathLike[str]) -> dict[str, str]:
    """Return the published files by name."""
    return of_hub(str(source)) if str(source).startswith(HUB) else of_folder(Path(source))


def of_folder(folder: Path) -> dict[str, str]:
    """Return the .onnx files of a folder and of those in it, by name."""
    if not folder.is_dir():
        raise ModelError(
            f"{path_text(folder)} is no folder", "Give a folder with .onnx files, or hf://org/repo"
        )
    paths = sorted(folder.rglob("*.onnx"))
    return _checked({path.relative_to(folder).as_posix(): str(path) for path in paths}, path_text(folder))


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
    return _checked({name: f"{HUB}{repo}/{name}{mark}" for name in onnx}, address)


def _checked(files: dict[str, str], where: str) -> dict[str, str]:
    if not 2 <= len(files) <= _MOST_FILES:
        raise ModelError(
            f"{where} has {counted(len(files), 'file')} of models, and 2 to {_MOST_FILES} can be compared",
            "Give a folder that holds the files to compare, or name them: wb.compare(first, second, …)",
        )
    return files


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
