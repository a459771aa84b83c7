"""The two exporters of torch: by tracing (TorchScript) and by graph capture (dynamo)."""

from __future__ import annotations

import contextlib
import io
import warnings
from pathlib import Path
from typing import Literal

import onnx
import torch

from sample_models.architectures import Blueprint

Exporter = Literal["torchscript", "dynamo"]

OPSETS: dict[Exporter, int] = {"torchscript": 17, "dynamo": 18}  # dynamo writes 18 at least
NEWEST_IR = 10  # readable by every ORT since 1.18


def export(blueprint: Blueprint, exporter: Exporter, path: Path) -> onnx.ModelProto:
    """Export to `path`, with weights inside or beside the file; return the model with its weights loaded."""
    module = blueprint.module()
    inputs = tuple(blueprint.inputs.values())
    names = list(blueprint.inputs)
    common = {
        "input_names": names,
        "output_names": list(blueprint.outputs),
        "opset_version": OPSETS[exporter],
    }
    with torch.no_grad(), warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")  # both exporters warn of intended constants
        if exporter == "torchscript":
            torch.onnx.export(
                module, inputs, str(path), dynamo=False, dynamic_axes=blueprint.dynamic, **common
            )
        else:
            torch.onnx.export(
                module,
                inputs,
                str(path),
                dynamo=True,
                external_data=True,
                dynamic_shapes=_dynamic_shapes(blueprint),
                verbose=False,
                **common,
            )
    model = onnx.load(str(path))
    model.ir_version = min(model.ir_version, NEWEST_IR)
    return model


def _dynamic_shapes(blueprint: Blueprint) -> tuple[dict[int, torch.export.Dim] | None, ...]:
    """Return the shapes for torch.export: one value per input, the same Dim for the same name."""
    dims: dict[str, torch.export.Dim] = {}
    shapes = []
    for name in blueprint.inputs:
        axes = blueprint.dynamic.get(name, {})
        for dim in axes.values():
            dims.setdefault(dim, torch.export.Dim(dim))
        shapes.append({axis: dims[dim] for axis, dim in axes.items()} or None)
    return tuple(shapes)
