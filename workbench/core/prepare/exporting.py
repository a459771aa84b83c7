"""A prepared model as a folder: the file, the script that makes it, and the examples of its calibration."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from workbench.core.config import Precision, StaticInt8
from workbench.core.config.script_steps import EXAMPLES_FILE
from workbench.core.errors import ConfigError, StorageError
from workbench.core.models.inputs import write_npz
from workbench.core.models.model import Model, copy_model
from workbench.core.prepare.calibration import calibration_examples, calibration_source

Examples = dict[str, np.ndarray[Any, Any]]


def write_folder(folder: Path, model: Model, script: str, examples: Examples) -> Path:
    """Write the files into a new folder and return it."""
    try:
        copy_model(model, folder)
        (folder / "script.py").write_text(script, "utf-8")
        if examples:
            write_npz(folder / EXAMPLES_FILE, examples)
    except FileExistsError as error:
        raise ConfigError(f"{folder} exists", "give a new folder: files in it stay as they are") from error
    except OSError as error:
        problem = f"{folder} cannot be written: {error.strerror or error}"
        raise StorageError(problem, "give a folder that you may write to, on a disk with room") from error
    return folder


def stacked_examples(model: Model, precision: Precision | None, data: Any) -> Examples:
    """Return the examples on which static int8 is calibrated, stacked along the first axis."""
    if not isinstance(precision, StaticInt8):
        return {}
    if isinstance(data, Iterator):
        raise ConfigError(
            "the calibration data were an iterator, which is used up", "give a list, a dict or an .npz file"
        )
    source = calibration_source(model, data, precision.samples)
    feeds = list(calibration_examples(source, model, precision.samples))
    for name, first in feeds[0].items():
        if any(_shape(feed[name]) != _shape(first) or _shape(first)[:1] != (1,) for feed in feeds):
            raise ConfigError(
                f"the calibration examples of {name!r} are no arrays of one size with a batch of 1, so "
                "they make no single array",
                "give examples of one size with a batch of 1",
            )
    return {name: np.concatenate([feed[name] for feed in feeds]) for name in feeds[0]}


def _shape(value: Any) -> tuple[int, ...]:
    """Return the shape of an array of numbers; nothing for texts, sequences and maps."""
    return value.shape if isinstance(value, np.ndarray) and value.dtype.kind != "O" else ()
