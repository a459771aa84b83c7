"""Blueprints of skeletons by name: the module in torch and its inputs."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from sample_models.catalogue import SKELETONS

if TYPE_CHECKING:
    import numpy as np
    import onnx
    from numpy.typing import NDArray

    from sample_models.architectures import Blueprint

SEED = 0


def blueprint(name: str) -> Blueprint:
    """Return the named skeleton's architecture, with example inputs drawn from the fixed seed."""
    import torch

    entry = SKELETONS[name]
    family, _, function = entry.architecture.partition(".")
    make = getattr(import_module(f"sample_models.architectures.{family}"), function)
    torch.manual_seed(SEED)
    made: Blueprint = make() if entry.attention is None else make(entry.attention)
    return made


def fresh_export(name: str, folder: Path) -> onnx.ModelProto:
    """Export the named skeleton's module again into `folder`; return the model with its weights."""
    from sample_models.export import export

    folder.mkdir(parents=True, exist_ok=True)
    return export(blueprint(name), SKELETONS[name].exporter, folder / f"{name}.onnx")


def example_inputs(name: str) -> dict[str, NDArray[np.generic]]:
    """Return the inputs of the named skeleton's export."""
    return {port: tensor.numpy() for port, tensor in blueprint(name).inputs.items()}
