"""Job: convert a file to the opset whose QuantizeLinear takes a scale for each channel."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from workbench.core.rewrites.scopes import opset_of
from workbench.core.worker.preparing import files
from workbench.core.worker.preparing.conversions import DATA, has_external, raise_opset, save
from workbench.core.worker.values import read_values

_MOST_ERROR = 1e-4  # of the largest magnitude of an output: another order of float32 sums stays below


def run(source: str, target: str, examples: str) -> dict[str, Any]:
    """Convert, and compare the outputs on the first example; keep the file as it is if they differ."""
    before = opset_of(onnx.load(source, load_external_data=False))
    try:
        raise_opset(source, target)
        (feed,) = read_values(min(Path(examples).iterdir()))
        expected, got = (files.on_cpu(path).run(None, feed) for path in (source, target))
        problem = _difference(expected, got)
    except Exception as error:  # noqa: BLE001 - the converter raises bare exceptions of any kind
        problem = str(error).strip()[:200] or type(error).__name__
    if problem:
        _keep(source, target)
    return files.answer(source, target, [], opset=before, problem=problem)


def _keep(source: str, target: str) -> None:
    """Copy the file, with its weights in place."""
    for path in Path(target).parent.glob(f"{DATA}*"):
        path.unlink()
    if has_external(source):
        save(onnx.load(source), target)
    else:
        shutil.copyfile(source, target)


def _difference(expected: list[Any], got: list[Any]) -> str:
    """Return what differs in words; nothing if no output does."""
    for at, (ours, theirs) in enumerate(zip(expected, got, strict=True)):
        if not isinstance(ours, np.ndarray) or ours.dtype.kind not in "fc":
            same = np.array_equal(ours, theirs) if isinstance(ours, np.ndarray) else ours == theirs
        else:
            most = _MOST_ERROR * float(np.abs(ours).max(initial=0.0))
            same = ours.shape == theirs.shape and np.allclose(ours, theirs, 0.0, most, equal_nan=True)
        if not same:
            return f"output {at} differs after the conversion"
    return ""
