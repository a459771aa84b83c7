"""Casts of the original model's feeds to the float types of the prepared model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from onnx import TensorProto
from onnx.helper import tensor_dtype_to_np_dtype

from workbench.models.model import Model
from workbench.worker.values import Feed

_FLOATS = (TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.BFLOAT16, TensorProto.DOUBLE)


def cast_feeds(feeds: Sequence[Feed], model: Model) -> Sequence[Feed]:
    """Return the feeds with float values in the model's types, or the same object if all types fit."""
    wanted = {
        value.name: np.dtype(tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type))
        for value in model.structure.graph.input
        if value.type.tensor_type.elem_type in _FLOATS
    }
    if all(_fits(value, wanted.get(name)) for feed in feeds for name, value in feed.items()):
        return feeds
    return [
        {
            name: value if _fits(value, wanted.get(name)) else value.astype(wanted[name])
            for name, value in feed.items()
        }
        for feed in feeds
    ]


def _fits(value: Any, wanted: np.dtype[Any] | None) -> bool:
    return wanted is None or not isinstance(value, np.ndarray) or value.dtype == wanted
