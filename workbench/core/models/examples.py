"""The evaluation examples of a model: one feed per run, and labels if there are any."""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from workbench.core.bounds import check_number
from workbench.core.errors import InputError
from workbench.core.models.checking import check_feed
from workbench.core.models.declared import TensorType, declared_inputs
from workbench.core.models.inputs import Inputs, read_npz
from workbench.core.stored_files import check_regular, expanded
from workbench.core.text import listed, shorten

if TYPE_CHECKING:
    from workbench.core.models.model import Model

Array: TypeAlias = np.ndarray[Any, Any]

_LABELS = "labels"
RANDOM_FEEDS = 8
MOST_FEEDS = 10_000  # limit for an iterable that may be infinite
NOT_REAL = "random inputs: the error on real data may be smaller or larger, and accuracy is not known"


@dataclass(frozen=True, eq=False, slots=True)
class Examples:
    """The examples in order: run i holds `items[i]` items and has the labels `labels[i]`."""

    feeds: tuple[Mapping[str, Any], ...]
    items: tuple[int, ...]
    labels: tuple[Array, ...] | None
    made_by: str
    metric: str | None  # the metric that suits the labels, if known
    real: bool
    notes: tuple[str, ...] = ()

    @property
    def item_count(self) -> int:
        return sum(self.items)


def examples(
    model: Model, data: Any = None, *, most: int | None = None, batch: int | None = None, seed: int = 0
) -> Examples:
    """Make examples of `data`: None (the sample's own set, else random), a sample's name, an .npz with an
    array `labels`, a dict of arrays with one, (feeds, labels), Inputs, or an iterable of feeds.

    `most` bounds the items. Items run one at a time, like requests, unless the model's first dimension is
    fixed or `batch` is given: the result of a dynamically quantized model depends on the other items.
    """
    for bound, count in (("items", most), ("batch", batch)):
        if count is not None:
            check_number(bound, count, "give a whole number, 1 or more", least=1, whole=True)
    if isinstance(data, Examples):
        return data
    if data is None:
        name = trained_sample(model)
        if name is not None:
            return _of_sample(model, name, most, batch)
        if model.fed is None:
            return _random(model, seed, most)
        data = model.fed
    if isinstance(data, (str, Path)):
        from workbench.core.models.samples import card, sample_names

        if str(data) in sample_names() and card(str(data)).kind == "trained":
            return _of_sample(model, str(data), most, batch)
        return _of_arrays(model, read_npz(Path(data)), f"{shorten(Path(data).name)} (given)", most, batch)
    if isinstance(data, Inputs) and data.seed is not None and len(data.feeds) == 1:
        return _random(model.with_inputs(data), data.seed, most)
    if isinstance(data, Inputs):
        return _of_feeds(model, data.feeds, None, data.made_by, most, real=data.is_real)
    if isinstance(data, Mapping):
        return _of_arrays(model, data, "dict (given)", most, batch)
    if isinstance(data, tuple) and len(data) == 2 and not isinstance(data[1], Mapping):
        return _with_labels(model, data[0], data[1], most, batch)
    if hasattr(data, "feeds") and hasattr(data, _LABELS):  # an EvaluationSet
        return _with_labels(model, data.feeds, data.labels, most, batch, getattr(data, "metric", None))
    if isinstance(data, Iterable) and not isinstance(data, (bytes, np.ndarray)):
        return _of_feeds(model, islice(data, most or MOST_FEEDS), None, "iterable (given)", most)
    raise InputError(
        f"A {type(data).__name__} holds no examples",
        "Give the path of an .npz file with an array for every input and one called 'labels', a dict of such "
        "arrays, (feeds, labels), or an iterable of feeds",
    )


def as_run(model: Model) -> str:
    """Return the words that name the sizes of random data where they are those of inputs that are run."""
    if model.fed is None:
        return ""
    return ", sized as what is run: " + "; ".join(
        f"{shorten(name)} {kind}" for name, kind in model.fed.shapes[:4]
    )


def trained_sample(model: Model) -> str | None:
    """Return the name of the trained sample equal to this model, or None."""
    from workbench.core.models.samples import card, sample_names, sample_path

    if model.name not in sample_names() or card(model.name).kind != "trained":
        return None
    own = sample_path(model.name)  # its folder is named after its content, in whichever cache
    return model.name if model.path.parts[-2:] == own.parts[-2:] else None


def has_labels(model: Model, data: str = "") -> bool:
    """Return whether the model's examples have labels: those of the file, else those of a trained sample."""
    if not data:
        return trained_sample(model) is not None
    inputs = (declared.name for declared in declared_inputs(model.structure))
    try:
        check_regular(expanded(data))
        with zipfile.ZipFile(expanded(data)) as archive:
            return f"{_LABELS}.npy" in archive.namelist() and _LABELS not in inputs
    except (OSError, ValueError, NotImplementedError, zipfile.BadZipFile):
        return False  # reading it, when it is needed, says why


def _of_sample(model: Model, name: str, most: int | None, batch: int | None) -> Examples:
    from workbench.core.models.samples import evaluation_set

    data = evaluation_set(name)
    made_by = f"the evaluation set of {name}"
    return _with_labels(model, data.feeds, data.labels, most, batch, data.metric, made_by)


def _random(model: Model, seed: int, most: int | None) -> Examples:
    count = min(RANDOM_FEEDS, most or RANDOM_FEEDS)
    feeds = [model.draw(seed + turn).feeds[0] for turn in range(count)]
    return Examples(
        tuple(feeds), (1,) * count, None, f"random, seeds {seed} to {seed + count - 1}{as_run(model)}", None,
        real=False,
        notes=(NOT_REAL,),
    )  # fmt: skip


def _with_labels(
    model: Model, feeds: Any, labels: Any, most: int | None, batch: int | None, metric: str | None = None,
    made_by: str = "feeds and labels (given)",
) -> Examples:  # fmt: skip
    if isinstance(feeds, Mapping):
        made = _of_arrays(model, {**feeds, _LABELS: labels}, made_by, most, batch)
    else:
        made = _of_feeds(model, feeds, labels, made_by, most)
    return replace(made, metric=metric)


def _of_feeds(
    model: Model, feeds: Iterable[Mapping[str, Any]], labels: Any, made_by: str, most: int | None, *,
    real: bool = True,
) -> Examples:  # fmt: skip
    """Make examples of feeds: each feed is one item, whatever its shapes."""
    guesses: list[str] = []
    checked = tuple(check_feed(feed, model.structure, guesses) for feed in islice(feeds, most))
    if not checked:
        raise InputError("There are no examples", "Give at least one feed")
    checked_labels = None
    if labels is not None:
        rest = iter(labels)
        checked_labels = tuple(np.asarray(label) for label in islice(rest, len(checked)))
        more = 0 if len(checked) == most else sum(1 for _ in islice(rest, MOST_FEEDS))
        _check_lengths(len(checked_labels) + more, len(checked))
        checked_labels = tuple(label[None] if _lacks_batch(label) else label for label in checked_labels)
    notes = (*dict.fromkeys(guesses), *(() if real else (NOT_REAL,)))
    return Examples(checked, (1,) * len(checked), checked_labels, made_by, None, real, notes)


def _of_arrays(
    model: Model, arrays: Mapping[str, Any], made_by: str, most: int | None, batch: int | None
) -> Examples:
    """Make examples of arrays that hold all items along their first axis."""
    stacked = dict(arrays)
    inputs = (declared.name for declared in declared_inputs(model.structure))
    labels = None if _LABELS in inputs else stacked.pop(_LABELS, None)
    lengths = {name: len(value) for name, value in stacked.items() if np.ndim(value)}
    if not lengths or len(lengths) < len(stacked):
        raise InputError(
            "An input has no axis of items", "Stack the items of each input along its first axis"
        )
    count = min(lengths.values())
    for name, length in lengths.items():
        if length != count:
            raise InputError(
                f"{shorten(name)!r} holds {length} items, another input {count}",
                f"Give the same items for every input: {listed(sorted(lengths))}",
            )
    if labels is not None:
        labels = np.asarray(labels)
        _check_lengths(len(labels) if labels.ndim else 0, count)
    size, notes = _run_size(model, batch), []
    count = min(count, most or count)
    if count < size:
        raise InputError(
            f"The model takes {size} items at a time and there are {count}",
            f"Give at least {size}, or load a model with a free first dimension",
        )
    if count % size:
        notes.append(f"{count % size} of {count} items were left out: the model takes {size} at a time")
        count -= count % size
    starts = range(0, count, size)
    guesses: list[str] = []
    ranks = {
        declared.name: len(declared.type.dims)
        for declared in declared_inputs(model.structure)
        if isinstance(declared.type, TensorType) and declared.type.dims is not None
    }
    feeds = tuple(
        check_feed(
            {name: _part(np.asarray(value), start, size, ranks.get(name)) for name, value in stacked.items()},
            model.structure,
            guesses,
        )
        for start in starts
    )
    return Examples(
        feeds=feeds,
        items=(size,) * len(feeds),
        labels=None if labels is None else tuple(labels[start : start + size] for start in starts),
        made_by=made_by,
        metric=None,
        real=True,
        notes=(*notes, *dict.fromkeys(guesses)),
    )


def _part(array: Array, start: int, size: int, rank: int | None) -> Array:
    """Return items along the first axis; an input without an item axis gets one item without it."""
    if rank is not None and array.ndim == rank + 1 and size == 1:
        item: Array = np.asarray(array[start])
        return item
    return array[start : start + size]


def _run_size(model: Model, batch: int | None) -> int:
    """Return the fixed first dimension of the inputs, else `batch`, else 1."""
    firsts = {dim for declared in declared_inputs(model.structure) for dim in declared.dims[:1]}
    fixed = [dim for dim in firsts if isinstance(dim, int)]
    return fixed[0] if len(fixed) == 1 else batch or 1


def _lacks_batch(label: Array) -> bool:
    """Return whether a label of one item lacks the item axis."""
    return label.ndim == 0 or (label.ndim == 1 and len(label) != 1)


def _check_lengths(labels: int, items: int) -> None:
    if labels != items:
        raise InputError(
            f"There are {labels} labels for {items} items", "Give one label (or row of labels) an item"
        )
