"""Real data from wherever it is, as inputs and as examples: what calibration takes, every call takes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from workbench.core.models.inputs import Inputs, make_inputs
from workbench.core.models.model import Model
from workbench.core.prepare.calibration import (
    DEFAULT_SAMPLES,
    REAL_INPUTS,
    calibration_examples,
    calibration_source,
)
from workbench.core.prepare.examples import examples
from workbench.core.prepare.pictures import Pictures
from workbench.core.prepare.replayed import replayed
from workbench.core.stored_files import expanded


def inputs_from(model: Model, source: Any, *, seed: int = 0) -> Inputs:
    """Make inputs of all that `Model.inputs` takes, and of a folder, pictures, a dataset or a reader."""
    if source is None:
        return model.draw(seed)
    return _read(model, source, REAL_INPUTS) if _is_read_here(source) else model.inputs(source, seed=seed)


def data_from(model: Model, source: Any, items: int | None) -> Any:
    """Return examples of a folder, pictures, a dataset or a reader; else what can be read again."""
    return _read(model, source, items or DEFAULT_SAMPLES) if _is_read_here(source) else replayed(source)


def _read(model: Model, source: Any, most: int) -> Inputs:
    data = calibration_source(model, source, most)
    feeds = list(calibration_examples(data, model, most))
    return make_inputs(feeds, f"{len(feeds)} examples of {data.name}: {data.made_by}", None, ())


def _is_read_here(source: Any) -> bool:
    if isinstance(source, (str, Path)):
        return expanded(source).is_dir()
    return isinstance(source, Pictures) or hasattr(source, "column_names") or hasattr(source, "get_next")


def check_examples(model: Model, data: Any, calibration: Any) -> None:
    """Refuse a file of labelled examples or of calibration data that cannot be read."""
    if isinstance(data, str | Path):
        examples(model, data)
    if isinstance(calibration, str | Path):
        calibration_source(model, calibration, 1)
