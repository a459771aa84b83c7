"""The evaluation examples of a model: one feed per run, and labels if there are any."""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeAlias

import numpy as np

from workbench.core.bounds import check_number
from workbench.core.errors import InputError
from workbench.core.models.checking import check_feed
from workbench.core.models.declared import TensorType, declared_inputs
from workbench.core.models.inputs import Inputs
from workbench.core.models.model import Model
from workbench.core.models.samples import evaluation_set, trained_sample
from workbench.core.prepare.example import placed, with_places
from workbench.core.prepare.given_examples import Feed, GivenExamples, given_examples
from workbench.core.stored_files import check_regular, expanded
from workbench.core.text import listed, shorten

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
    """Make examples of data in any form, by default of the trained sample's own set, else random ones.

    `most` bounds the items. Items run one at a time, like requests, unless the model's first dimension is
    fixed or `batch` is given: the result of a dynamically quantized model depends on the other items.
    """
    for bound, count in (("items", most), ("batch", batch)):
        if count is not None:
            check_number(bound, count, "give a whole number, 1 or more", least=1, whole=True)
    if isinstance(data, Examples):
        return data
    given = model.fed if data is None else data
    if isinstance(given, Inputs) and given.seed is not None:
        seed = given.seed
    drawn = range(seed, seed + min(RANDOM_FEEDS, most or RANDOM_FEEDS))
    return examples_of(model, given_examples(model, data, drawn, _evaluation_set), most, batch)


def examples_of(
    model: Model, source: GivenExamples, most: int | None = None, batch: int | None = None
) -> Examples:
    """Check the examples of a source against the model."""
    if not isinstance(source.feeds, Mapping):
        return _of_feeds(model, source, most)
    with placed(source.name):
        return _of_arrays(model, source, source.feeds, most, batch)


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


def _evaluation_set(name: str) -> GivenExamples:
    data, words = evaluation_set(name), f"the evaluation set of {name}"
    return GivenExamples(words, words, data.feeds, data.labels, data.metric)


def _of_feeds(model: Model, source: GivenExamples, most: int | None) -> Examples:
    """Make examples of feeds: each feed is one item, whatever its shapes."""
    guesses: list[str] = []
    feeds = []
    bound = most or (MOST_FEEDS if source.labels is None else None)
    for place, feed in islice(with_places(source.feeds, source.name), bound):
        with placed(place):
            feeds.append(check_feed(feed, model.structure, guesses))
    if not feeds:
        raise InputError(f"{source.name}: there are no examples", "give at least one")
    labels = None
    if source.labels is not None:
        rest = iter(source.labels)
        labels = [np.asarray(label) for label in islice(rest, len(feeds))]
        more = 0 if len(feeds) == most else sum(1 for _ in islice(rest, MOST_FEEDS))
        _check_lengths(len(labels) + more, len(feeds))
        labels = [label[None] if _lacks_batch(label) else label for label in labels]
    return _made(source, feeds, 1, labels, guesses)


def _made(
    source: GivenExamples,
    feeds: Sequence[Feed],
    size: int,
    labels: Iterable[Array] | None,
    notes: Iterable[str],
) -> Examples:
    return Examples(
        tuple(feeds), (size,) * len(feeds), None if labels is None else tuple(labels), str(source),
        source.metric, source.is_real, (*dict.fromkeys(notes), *(() if source.is_real else (NOT_REAL,))),
    )  # fmt: skip


def _of_arrays(
    model: Model, source: GivenExamples, arrays: Feed, most: int | None, batch: int | None
) -> Examples:
    """Make examples of arrays that hold all items along their first axis."""
    stacked, labels = dict(arrays), source.labels
    if labels is None and _LABELS not in (declared.name for declared in declared_inputs(model.structure)):
        labels = stacked.pop(_LABELS, None)
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
    size, notes = _run_size(model, batch), list[str]()
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
    ranks = {
        declared.name: len(declared.type.dims)
        for declared in declared_inputs(model.structure)
        if isinstance(declared.type, TensorType) and declared.type.dims is not None
    }
    feeds = [
        check_feed(
            {name: _part(np.asarray(value), start, size, ranks.get(name)) for name, value in stacked.items()},
            model.structure,
            notes,
        )
        for start in starts
    ]
    parts = None if labels is None else (labels[start : start + size] for start in starts)
    return _made(source, feeds, size, parts, notes)


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
