"""A flaw: the id of its finding, and the planting into one of three sound models."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import onnx

from benchmarks.flaws.nets import Net
from workbench.config import Config

Fact = Literal["cold start", "memory", "comparison"]
DEFAULTS = Config()
MODELS = 3  # that each flaw is planted into
SOUND_TEXT = Config(disabled_passes=("SkipLayerNormFusion",))  # see the finding skip-layer-norm-slow


@dataclass(frozen=True)
class Planted:
    """A flawed model under a config. `nodes`: those of the flaw in the file; none if it has no place."""

    model: onnx.ModelProto
    nodes: tuple[str, ...] = ()
    config: Config = DEFAULTS
    sound: onnx.ModelProto | None = None  # what the flaw was planted into, where it computes the same
    sound_config: Config = DEFAULTS
    calibration: Any = None
    inputs: Any = None  # feeds; None: random ones
    data: Any = None  # labelled examples
    facts: tuple[Fact, ...] = ()  # that only a measurement gives


@dataclass(frozen=True)
class Flaw:
    """One kind of flaw."""

    kind: str
    finding: str
    plant: Callable[[int], Planted]
    is_timed: bool = False  # costs enough time for a measurement to tell


def planted(net: Net, *outputs: str, config: Config = DEFAULTS, sound: Net | None = None) -> Planted:
    """Return the net as a flawed model."""
    before = None if sound is None else sound.model()
    return Planted(net.model(*outputs), tuple(net.planted), config, before, config)
