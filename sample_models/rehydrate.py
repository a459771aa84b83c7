"""From a skeleton to a model that runs: the graph as it was, the weights drawn from their recipes."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from sample_models.recipe import Recipe
from sample_models.skeleton import load_skeleton, recipe_of

if TYPE_CHECKING:
    import onnx

GENERATOR = 1  # raise it when the same recipe would draw other bits
ALIGNMENT = 4096  # ORT maps external data into memory by whole pages

Progress = Callable[[int, int], None]  # bytes written, bytes in all


def rehydrate(packed: bytes, model_path: Path, *, progress: Progress | None = None) -> tuple[Path, Path]:
    """Write the model and, beside it, its weights (`.data`); both are made anew. Returns the two paths."""
    model = load_skeleton(packed)
    data_path = model_path.with_name(f"{model_path.name}.data")
    drawn = _place(model, data_path.name)
    with data_path.open("wb") as data:
        _write_weights(data, drawn, progress)
    model_path.write_bytes(model.SerializeToString(deterministic=True))
    return model_path, data_path


def _place(model: onnx.ModelProto, location: str) -> list[tuple[int, Recipe]]:
    """Turn each recipe of the model into a place in the data file; returns the offsets with their recipes.

    Tensors of the same recipe were equal when they were exported; each still gets its own bytes, as then.
    """
    end = 0
    placed = []
    for tensor in model.graph.initializer:
        recipe = recipe_of(tensor)
        if recipe is None:
            continue
        offset = -(-end // ALIGNMENT) * ALIGNMENT
        end = offset + recipe.bytes
        placed.append((offset, recipe))
        tensor.ClearField("external_data")
        for key, value in (("location", location), ("offset", offset), ("length", recipe.bytes)):
            tensor.external_data.add(key=key, value=str(value))
    return placed


def _write_weights(data: BinaryIO, placed: list[tuple[int, Recipe]], progress: Progress | None) -> None:
    total = sum(recipe.bytes for _, recipe in placed)
    done = 0
    for offset, recipe in placed:
        data.seek(offset, os.SEEK_SET)
        for chunk in recipe.chunks():
            data.write(chunk.data)
        done += recipe.bytes
        if progress is not None:
            progress(done, total)
