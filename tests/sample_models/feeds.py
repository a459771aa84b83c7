"""Plausible inputs for a sample, from its card alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from sample_models.cards import Port, SampleCard


def feeds_for(card: SampleCard, **dims: int) -> dict[str, Any]:
    sizes = dict(card.dims) | dims
    random = np.random.default_rng(0)
    return {port.name: _values(port, sizes, random) for port in card.inputs}


def _values(port: Port, sizes: dict[str, int], random: np.random.Generator) -> Any:
    shape = tuple(sizes[extent] if isinstance(extent, str) else extent for extent in port.shape)
    if port.dtype == "float32":
        pictures = port.name in ("pixel_values", "pixels", "images")
        return (random.random(shape) if pictures else random.normal(size=shape)).astype(np.float32)
    if "mask" in port.name:
        return np.ones(shape, np.int64)
    if "type" in port.name:
        return np.zeros(shape, np.int64)
    if "position" in port.name:
        past = sizes["past"]
        return np.broadcast_to(np.arange(past, past + shape[1]), shape).copy()
    return random.integers(0, 1000 if port.name == "timestep" else 120, shape)
