"""What the worker of another engine needs to know of a config, a model and its inputs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from workbench.config import Config
from workbench.config.engine_script import openvino_settings
from workbench.config.engines import OpenVino
from workbench.errors import ConfigError
from workbench.models.declared import declared_inputs, declared_outputs
from workbench.models.model import Model
from workbench.models.samples import sample_names
from workbench.worker.values import Feed


def engine_plan(config: Config, model: Model | None, feeds: Sequence[Feed]) -> dict[str, Any]:
    """Return the engine's options, the names of inputs and outputs and the shapes of the feeds, as JSON."""
    import sample_models

    if model is None:
        raise ConfigError("another engine needs an opened model", "give wb.load(path), not a path alone")
    engine = config.engine
    return {
        "engine": {} if engine is None else engine.changed(),
        "settings": openvino_settings(engine, config.intra_op_threads)
        if isinstance(engine, OpenVino)
        else {},
        "threads": config.intra_op_threads,
        "inputs": [value.name for value in declared_inputs(model.structure)],
        "outputs": [value.name for value in declared_outputs(model.structure)],
        "shapes": {name: list(np.shape(value)) for name, value in feeds[0].items()},
        "sample": model.name if model.name in sample_names() else None,
        "samples": str(Path(sample_models.__file__).parent),
    }
