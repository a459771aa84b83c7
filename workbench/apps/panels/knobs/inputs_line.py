"""The lines of the knob table that are the same for every config: the inputs, and how it is measured."""

from __future__ import annotations

from typing import Any

from workbench.apps.panels.request import SMALLEST_EFFECT
from workbench.apps.panels.state import BenchState


def inputs_line(state: BenchState) -> dict[str, Any]:
    """Return the sizes of the free dimensions, as far as they are known, and where the data come from."""
    shapes = state.preview.shapes if state.preview is not None else ()
    sizes = {**sizes_in(state.model, shapes), **dict(state.dims)}
    data = state.data or f"seed {state.seed}"
    return line("inputs", [*(f"{name} {size}" for name, size in sizes.items()), data])


def measuring_line(state: BenchState) -> list[dict[str, Any]]:
    """Return how configs are measured; nothing where everything is at its default."""
    texts = [
        *([f"at most {state.budget_s:g} s"] if state.budget_s else []),
        *([f"effect {state.smallest_effect:.3g}"] if state.smallest_effect != SMALLEST_EFFECT else []),
        *([f"pause {state.pacing_s * 1e3:g} ms"] if state.pacing_s else []),
        *(["comparisons: processor time at one thread"] if state.clock == "cpu" else []),
    ]
    return [line("measuring", texts)] if texts else []


def line(section: str, texts: list[str]) -> dict[str, Any]:
    """Return a row without cells; a click opens its section."""
    row = {"key": section, "label": section, "section": section}
    return {**row, "line": ", ".join(texts), "help": "", "cells": []}


def sizes_in(model: Any, shapes: tuple[tuple[str, str], ...]) -> dict[str, str]:
    """Return the size of each free dimension of a model in inputs of these shapes ("int64[1,128]")."""
    if model is None or not shapes:
        return {}
    from workbench.core.models.declared import TensorType  # and onnx with it

    types = {declared.name: declared.type for declared in model.describe().inputs}
    sizes: dict[str, str] = {}
    for name, shape in shapes:
        kind = types.get(name)
        numbers = shape.partition("[")[2].rstrip("]").split(",")
        if isinstance(kind, TensorType) and len(kind.dims or ()) == len(numbers):
            sizes |= {
                dim or f"{name}.{axis}": number
                for axis, (dim, number) in enumerate(zip(kind.dims or (), numbers, strict=True))
                if not isinstance(dim, int)
            }
    return sizes
