"""A Hugging Face dataset as calibration data; its package is the user's and is never imported here."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from onnx.helper import tensor_dtype_to_np_dtype

from workbench.errors import InputError
from workbench.models.display import listed, shorten
from workbench.models.model import Model
from workbench.prepare.pictures import Pictures, picture_array


def read_dataset(data: Any, model: Model) -> tuple[str, str, Iterator[dict[str, Any]]]:
    """Columns that are called like inputs are fed to them; else a column of images to the only input."""
    columns = [str(name) for name in data.column_names]
    inputs = {value.name: value.type.tensor_type for value in model.structure.graph.input}
    name = f"{shorten(str(getattr(data, 'builder_name', None) or 'a dataset'))} ({_length(data)} rows)"
    if set(inputs) <= set(columns):
        return name, f"columns {', '.join(sorted(inputs))}, a row an example", _rows(data, inputs)
    first = data[0]
    images = [column for column in columns if hasattr(first[column], "convert")]
    if len(images) == 1 and len(inputs) == 1:
        pictures = Pictures(".")
        feeds = (picture_array(row[images[0]], pictures, model) for row in _iterate(data))
        return name, f"column {images[0]}: {pictures.in_words()}", feeds
    raise InputError(
        f"the dataset's columns are {listed(columns, 20)}, the model's inputs {listed(list(inputs), 20)}",
        "rename its columns to the inputs (dataset.rename_column) and tokenize texts before, or give feeds",
    )


def _rows(data: Any, inputs: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for row in _iterate(data):
        yield {name: _value(row[name], kind) for name, kind in inputs.items()}


def _value(value: Any, kind: Any) -> Any:
    array = np.asarray(value, tensor_dtype_to_np_dtype(kind.elem_type))
    return array[None] if array.ndim == len(kind.shape.dim) - 1 else array


def _iterate(data: Any) -> Iterator[Any]:
    return (data[at] for at in range(len(data)))


def _length(data: Any) -> int:
    return len(data)
