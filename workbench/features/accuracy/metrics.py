"""Metrics of accuracy: top-k, F1, or a function of the user's; one number per item."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from workbench.core.errors import ConfigError, MetricError
from workbench.core.text import quoted, shorten
from workbench.features.accuracy import intervals
from workbench.features.accuracy.record import Mean, Paired

Array: TypeAlias = np.ndarray[Any, Any]
PerItem: TypeAlias = Callable[[Mapping[str, Any], Array], Any]

_MOST_CLASSES = 2**53  # numbers up to here are whole in the arrays of a metric
IGNORED = -100  # the label of a position that does not count, as everywhere in training code


@dataclass(frozen=True, slots=True)
class Metric:
    """`per_item` gives one row per item of a run. Without `whole` the figure is their mean.

    `whole` makes the figure from the rows of all items where it is no mean, as for F1.
    """

    name: str
    per_item: PerItem
    whole: Callable[[Array], float] | None = None

    def summary(self, rows: Array) -> Mean:
        """Return the figure with its interval over items."""
        whole = self.whole
        if whole is None:
            return intervals.mean(rows)
        return intervals.resampled(
            whole(rows), len(rows), lambda picked: np.array([whole(rows[sample]) for sample in picked])
        )

    def paired(self, first: Array, second: Array) -> Paired:
        """Return the figure of `second` minus that of `first`, on the same items."""
        whole = self.whole
        if whole is None:
            return intervals.paired(first, second)
        return intervals.resampled_gap(
            whole(second) - whole(first),
            len(first),
            lambda picked: np.array([whole(second[sample]) - whole(first[sample]) for sample in picked]),
        )


def find_metric(asked: str | PerItem | Metric | None, output: str | None = None) -> Metric:
    """Return the metric of this name, or of a function of outputs and labels with one number per item.

    `output` names the output that holds the scores; by default the first.
    """
    if isinstance(asked, Metric):
        return asked
    if callable(asked):
        return own(asked)
    known = {
        "top-1 accuracy": lambda: top(1, output),
        "top-5 accuracy": lambda: top(5, output),
        "next-character accuracy": lambda: top(1, output, "next-character accuracy"),
        "macro F1": lambda: macro_f1(output),
    }
    short = {"top1": "top-1 accuracy", "top5": "top-5 accuracy", "f1": "macro F1"}
    name = "top-1 accuracy" if asked is None else short.get(str(asked), str(asked))
    if name not in known:
        raise ConfigError(
            f"metric={asked!r} is no known metric",
            f"give one of {', '.join(map(repr, (*short, *known)))}, or a function of (outputs, labels) that "
            "gives one number per item",
        )
    return known[name]()


def top(k: int, output: str | None = None, name: str | None = None) -> Metric:
    """Return a metric: whether the label is among the k largest scores; the share of an item's positions."""

    def per_item(outputs: Mapping[str, Any], labels: Array) -> Array:
        scores, labels = _scores(outputs, labels, output)
        k_here = min(k, scores.shape[-1])
        best = np.argpartition(-scores, k_here - 1, axis=-1)[..., :k_here]
        right = (best == labels[..., None]).any(axis=-1) & ~np.isnan(scores).any(axis=-1)
        return _mean_where(right, labels != IGNORED)

    return Metric(name or f"top-{k} accuracy", per_item)


def macro_f1(output: str | None = None) -> Metric:
    """Return a metric: the mean over classes of F1; classes that never occur do not count."""

    def per_item(outputs: Mapping[str, Any], labels: Array) -> Array:
        scores, labels = _scores(outputs, labels, output)
        if (wrong := labels[~_are_classes(labels)]).size:
            raise MetricError(
                f"the label {quoted(wrong[0].item())} is no class: classes count from 0",
                f"give labels from 0 up, {IGNORED} for those not to count",
            )
        return np.stack([labels, scores.argmax(axis=-1)], axis=-1).reshape(len(labels), -1, 2)

    return Metric("macro F1", per_item, f1_of_pairs)


def f1_of_pairs(pairs: Array) -> float:
    """Return the macro F1 of (label, prediction) pairs along the last axis."""
    labels, predictions = pairs.reshape(-1, 2).T.astype(np.int64)
    counted = labels != IGNORED
    labels, predictions = labels[counted], predictions[counted]
    if not labels.size:
        return 0.0
    classes, places = np.unique(np.concatenate([labels, predictions]), return_inverse=True)
    right = np.bincount(places[: len(labels)][labels == predictions], minlength=len(classes))
    both = np.bincount(places, minlength=len(classes))
    return float((2 * right / both).mean())


def _are_classes(labels: Array) -> Array:
    """Return which labels are whole numbers from 0 up, or those that do not count."""
    if labels.dtype.kind not in "biuf":
        return np.zeros(labels.shape, bool)
    whole = labels.astype(np.float64)
    is_class = (whole == np.floor(whole)) & (whole >= 0) & (whole < _MOST_CLASSES)
    return np.asarray(is_class | (whole == IGNORED))


def own(function: PerItem) -> Metric:
    """Return a metric of the user's function: (outputs by name, labels) of a run to one number per item."""
    name = shorten(getattr(function, "__name__", type(function).__name__))

    def per_item(outputs: Mapping[str, Any], labels: Array) -> Array:
        try:
            values = np.asarray(function(outputs, labels), np.float64)
        except Exception as error:
            place = traceback.extract_tb(error.__traceback__)[-1]
            raise MetricError(
                f"the metric {name} raised {type(error).__name__}: {shorten(str(error), 300)} "
                f"(line {place.lineno} of {place.name})",
                f"it is called with the outputs {sorted(outputs)} of a run and labels of shape "
                f"{np.shape(labels)}; try it on those alone",
            ) from error
        if values.ndim == 0 and len(labels) == 1:
            values = values[None]
        if values.shape != (len(labels),):
            raise MetricError(
                f"the metric {name} gave shape {values.shape} for {len(labels)} items",
                f"return one number per item: an array of shape ({len(labels)},)",
            )
        if not np.isfinite(values).all():
            raise MetricError(
                f"the metric {name} gave {values[~np.isfinite(values)][0]} for an item",
                "return a finite number for every item",
            )
        return values

    return Metric(name, per_item)


def _scores(outputs: Mapping[str, Any], labels: Array, output: str | None) -> tuple[Array, Array]:
    """Return the output with the scores, and the labels; refuse shapes that do not fit."""
    name = next(iter(outputs)) if output is None else output
    if name not in outputs:
        raise MetricError(
            f"the model has no output {shorten(name)!r}",
            f"its outputs are: {', '.join(shorten(output) for output in outputs)}",
        )
    value = outputs[name]
    if not isinstance(value, np.ndarray) or value.dtype.kind in "OUSc" or value.ndim < 2:
        raise MetricError(
            f"the output {shorten(name)!r} holds no scores: it needs two axes or more, the last of classes",
            "name another output, or give a function of your own: metric=function of (outputs, labels)",
        )
    labels = np.asarray(labels)
    if labels.shape != value.shape[:-1]:
        raise MetricError(
            f"labels of shape {labels.shape} do not fit scores of shape {value.shape}",
            f"give labels of shape {value.shape[:-1]}, {IGNORED} for those not to count",
        )
    return value.astype(np.float64), labels


def _mean_where(right: Array, counted: Array) -> Array:
    """Return the share of each item; refuse an item without a label that counts."""
    right, counted = (array.reshape(len(array), -1) for array in (right, counted))
    if not counted.any(axis=1).all():
        raise MetricError(
            "an item has no label that counts", f"leave out items whose labels are all {IGNORED}"
        )
    shares: Array = (right & counted).sum(axis=1) / counted.sum(axis=1)
    return shares
