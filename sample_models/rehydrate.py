"""Rehydration of a skeleton to a model that runs: the original graph, with weights drawn from recipes."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import TYPE_CHECKING

from sample_models.recipe import Recipe
from sample_models.skeleton import load_skeleton, recipe_of

if TYPE_CHECKING:
    import onnx

GENERATOR = 1  # raise when the same recipe draws other bits
ALIGNMENT = 4096  # ORT maps external data into memory by whole pages
_MOST_THREADS = 4  # with more threads the memory is the limit

Progress = Callable[[int, int], None]  # bytes written, total bytes


def rehydrate(packed: bytes, model_path: Path, *, progress: Progress | None = None) -> tuple[Path, Path]:
    """Write the model and its weights beside it (`.data`), both new; return the two paths."""
    model = load_skeleton(packed)
    data_path = model_path.with_name(f"{model_path.name}.data")
    drawn = _place(model, data_path.name)
    _write_weights(data_path, drawn, progress)
    model_path.write_bytes(model.SerializeToString(deterministic=True))
    return model_path, data_path


def _place(model: onnx.ModelProto, location: str) -> list[tuple[int, Recipe]]:
    """Turn each recipe of the model into a place in the data file; return the offsets with their recipes.

    Tensors of the same recipe were equal in the export; each gets bytes of its own, as in the export.
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


def _write_weights(path: Path, placed: list[tuple[int, Recipe]], progress: Progress | None) -> None:
    """Draw and write in several threads: numpy releases the GIL for both."""
    total = sum(recipe.bytes for _, recipe in placed)
    with path.open("wb") as data:
        data.truncate(max((offset + recipe.bytes for offset, recipe in placed), default=0))
    largest_first = sorted(placed, key=lambda place: -place[1].bytes)
    pool = ThreadPoolExecutor(min(_MOST_THREADS, os.cpu_count() or 1))
    try:
        done = 0
        for written in as_completed([pool.submit(_write, path, *place) for place in largest_first]):
            done += written.result()
            if progress is not None:
                progress(done, total)
    finally:
        pool.shutdown(cancel_futures=True)


def _write(path: Path, offset: int, recipe: Recipe) -> int:
    """Draw one tensor into its place; return the number of bytes."""
    with path.open("r+b", buffering=0) as data:
        data.seek(offset)
        for chunk in recipe.chunks():
            data.write(chunk.data)
    return recipe.bytes
