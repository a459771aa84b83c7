"""A Hugging Face dataset as calibration data, read without importing its package."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from workbench.core.errors import InputError
from workbench.core.models.declared import Declared, TensorType, declared_inputs
from workbench.core.models.model import Model
from workbench.core.models.values import dtype_of
from workbench.core.prepare.pictures import Pictures, picture_array, words_for
from workbench.core.text import listed, shorten


def read_dataset(data: Any, model: Model) -> tuple[str, str, Iterator[dict[str, Any]]]:
    """Feed the columns named like inputs, or else the column of images to the only input."""
    if isinstance(data.column_names, Mapping):
        raise InputError(
            f"this is a Hugging Face DatasetDict with the splits {listed(sorted(data.column_names))}",
            "give one of them: calibration=dataset['train']",
        )
    first = next(_iterate(data), None)
    if first is None:
        raise InputError("the dataset has no rows", "give one that has: 100 to 500 are usual")
    columns = [str(name) for name in data.column_names or first]  # unknown to some streamed datasets
    inputs = {declared.name: declared for declared in declared_inputs(model.structure)}
    length = f"{len(data)} rows" if hasattr(data, "__len__") else "streamed"
    name = f"{shorten(str(getattr(data, 'builder_name', None) or 'a dataset'))} ({length})"
    if set(inputs) <= set(columns):
        return name, f"columns {', '.join(sorted(inputs))}, a row an example", _rows(data, inputs)
    images = [column for column in columns if hasattr(first[column], "convert")]
    if len(images) == 1 and len(inputs) == 1:
        pictures = Pictures(".")
        feeds = (picture_array(row[images[0]], pictures, model) for row in _iterate(data))
        return name, f"column {images[0]}: {words_for(pictures, model)}", feeds
    raise InputError(
        f"the dataset's columns are {listed(columns, 20)}, the model's inputs {listed(list(inputs), 20)}",
        "rename its columns to the inputs (dataset.rename_column) and tokenize texts before, or give feeds",
    )


def _rows(data: Any, inputs: Mapping[str, Declared]) -> Iterator[dict[str, Any]]:
    for at, row in enumerate(_iterate(data)):
        yield {name: _value(row[name], into, f"row {at}, column {name}") for name, into in inputs.items()}


def _value(value: Any, into: Declared, where: str) -> Any:
    if not isinstance(into.type, TensorType):
        return value
    try:
        array = np.asarray(value, dtype_of(into.type.element, f"The input {shorten(into.name)!r}"))
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(
            f"the dataset's {where} is no array of the input's type: {shorten(str(error), 200)}",
            "give rows of numbers, all of one length (a tokenizer's padding=True)",
        ) from error
    return array[None] if array.ndim == len(into.dims) - 1 else array


def _iterate(data: Any) -> Iterator[Any]:
    """Yield the rows by number, or in order from a streamed dataset."""
    if not hasattr(data, "__getitem__"):
        return iter(data)
    return (data[at] for at in range(len(data)))
