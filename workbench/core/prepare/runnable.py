"""The input of a worker for one config: the prepared file, the session's config, and feeds of its types."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.core.config import Config, PreparedModel
from workbench.core.errors import InputError
from workbench.core.models.checking import check_feed
from workbench.core.models.element_type import ElementType
from workbench.core.models.model import Model
from workbench.core.prepare.preparing import OnStep, Prepared, prepare
from workbench.core.worker.values import Feed

_FLOATS = (ElementType.FLOAT, ElementType.FLOAT16, ElementType.BFLOAT16, ElementType.DOUBLE)


@dataclass(frozen=True, slots=True, eq=False)
class Runnable:
    """One config of a model, prepared for a worker."""

    prepared: Prepared
    feeds: Sequence[Feed]  # the same object if no value was cast

    @property
    def model(self) -> Model:
        """The file that the session loads."""
        return self.prepared.model

    @property
    def config(self) -> Config:
        """The config of the session, without the settings that changed the file."""
        return self.prepared.config


def make_runnable(
    model: Model,
    config: Config,
    feeds: Sequence[Feed],
    *,
    calibration: Any = None,
    cancel: threading.Event | None = None,
    on_step: OnStep | None = None,
) -> Runnable:
    """Prepare the model for the config and cast the feeds to the types of the prepared file's inputs."""
    prepared = prepare(model, config, calibration=calibration, cancel=cancel, on_step=on_step)
    if prepared.model is model:
        return Runnable(prepared, feeds)
    is_other_net = isinstance(config.precision, PreparedModel) and not config.precision.compare_outputs
    if is_other_net and not _fit(feeds, prepared.model):
        return Runnable(prepared, prepared.model.draw().feeds)
    return Runnable(prepared, cast_feeds(feeds, prepared.model))


def _fit(feeds: Sequence[Feed], model: Model) -> bool:
    """Return whether the model takes these feeds."""
    try:
        for feed in feeds:
            check_feed(feed, model.structure, [])
    except InputError:
        return False
    return True


def cast_feeds(feeds: Sequence[Feed], model: Model) -> Sequence[Feed]:
    """Return the feeds with float values in the model's types, or the same object if all fit.

    An input that the prepared file no longer has is left out: a rewrite drops those that no node reads.
    """
    from onnx.helper import tensor_dtype_to_np_dtype

    wanted = {
        value.name: np.dtype(tensor_dtype_to_np_dtype(element)) if element in _FLOATS else None
        for value in model.structure.graph.input
        for element in (value.type.tensor_type.elem_type,)
    }
    if all(name in wanted and _fits(value, wanted[name]) for feed in feeds for name, value in feed.items()):
        return feeds
    return [
        {
            name: value if _fits(value, wanted[name]) else value.astype(wanted[name])
            for name, value in feed.items()
            if name in wanted
        }
        for feed in feeds
    ]


def _fits(value: Any, wanted: np.dtype[Any] | None) -> bool:
    return wanted is None or not isinstance(value, np.ndarray) or value.dtype == wanted
