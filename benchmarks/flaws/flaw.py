"""A flaw: the id of its finding, and the planting into one of three sound models."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import onnx

from benchmarks.models import Net
from workbench.core.config import Config

Fact = Literal["cold start", "memory", "comparison"]
DEFAULTS = Config()
RANDOM = "random"  # calibration data
MODELS = 3  # that each flaw is planted into
SOUND_TEXT = Config(disabled_passes=("SkipLayerNormFusion",))  # see the finding skip-layer-norm-slow


@dataclass(frozen=True)
class Planted:
    """A flawed model under a config. `nodes`: those of the flaw in the file; none if it has no place."""

    model: onnx.ModelProto
    nodes: tuple[str, ...] = ()
    config: Config = DEFAULTS
    sound: onnx.ModelProto | None = None  # computes the same without the flaw; None: none, or the same file
    sound_config: Config = DEFAULTS  # without the flaw
    calibration: Any = None
    inputs: Any = None  # feeds; None: random ones
    data: Any = None  # labelled examples
    facts: tuple[Fact, ...] = ()  # that only a measurement gives


Plant = Callable[[int], Planted]  # into the model of this number


@dataclass(frozen=True)
class Flaw:
    """One kind of flaw."""

    kind: str
    finding: str
    plant: Plant
    is_timed: bool = False  # costs enough time for a measurement to tell


def planted(net: Net, *outputs: str, config: Config = DEFAULTS, sound: Net | None = None) -> Planted:
    """Return the net as a flawed model."""
    model = net.model(*outputs)
    twin = None if sound is None else _with_names_of(model, sound.model())
    return Planted(model, tuple(net.planted), config, twin, config)


def _with_names_of(model: onnx.ModelProto, sound: onnx.ModelProto) -> onnx.ModelProto:
    """Give the outputs of the sound model the names of the flawed one's, so that both can be compared."""
    pairs = zip(sound.graph.output, model.graph.output, strict=True)
    names = {ours.name: theirs.name for ours, theirs in pairs}
    for node in sound.graph.node:
        node.output[:] = [names.get(name, name) for name in node.output]
    for value in sound.graph.output:
        value.name = names[value.name]
    return sound
