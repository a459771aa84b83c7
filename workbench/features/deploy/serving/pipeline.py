"""A pipeline as it was measured: `python pipeline.py inputs.npz outputs.npz …`, or `run(values)`."""

from __future__ import annotations

import inspect
import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
from wiring import places_of  # type: ignore[import-not-found]

FOLDER = Path(__file__).parent


def _model(name: str, module: Any, file: str) -> Any:
    """Return a stage that is a model: its name, its inputs, those it needs, and its call."""
    session = module.make_session(str(FOLDER / file))
    inputs = [value.name for value in session.get_inputs()]
    outputs = [value.name for value in session.get_outputs()]
    return name, inputs, inputs, lambda values: dict(zip(outputs, module.run(session, values), strict=True))


def _function(name: str, function: Any) -> Any:
    """Return a stage that is a function; its parameters are its inputs."""
    parameters = inspect.signature(function).parameters.values()
    needed = [item.name for item in parameters if item.default is item.empty]

    def call(values: dict[str, Any]) -> dict[str, Any]:
        result = function(**values)
        return result if isinstance(result, dict) else {name: result}

    return name, [item.name for item in parameters], needed, call


def _stage(stage: dict[str, str]) -> Any:
    module = import_module(stage["module"])
    if "model" in stage:
        return _model(stage["name"], module, stage["model"])
    return _function(stage["name"], getattr(module, stage["function"]))


STAGES = [_stage(stage) for stage in json.loads((FOLDER / "stages.json").read_text("utf-8"))]


def run(values: dict[str, Any]) -> dict[str, Any]:
    """Run all stages; return the outputs of the last one by name."""
    values, before = dict(values), list(values)
    for name, inputs, needed, call in STAGES:
        places, missing = places_of(inputs, needed, values, before)
        if missing:
            raise ValueError(f"stage {name!r} takes {', '.join(missing)}, and nothing gives it")
        made = call({taken: values[given] for taken, given in places})
        values.update(made)
        before = list(made)
    return {name: values[name] for name in before}


if __name__ == "__main__":
    for taken, given in zip(sys.argv[1::2], sys.argv[2::2], strict=True):
        with np.load(taken, allow_pickle=False) as arrays:
            results = run(dict(arrays))
        with ZipFile(given, "w") as archive:  # np.savez takes no array called "file"
            for name, value in results.items():
                with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
                    np.lib.format.write_array(file, np.asarray(value))
