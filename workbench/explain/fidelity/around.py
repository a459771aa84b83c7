"""The file as a quantizer got it and as it left it: tensors and nodes of both have the same names."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from workbench.config import Config, Given, StaticInt8
from workbench.errors import ConfigError
from workbench.models.model import Model
from workbench.prepare.preparing import Prepared


def around(model: Model, config: Config, prepared: Prepared) -> tuple[Model, Model]:
    """Before and after the step that changed the arithmetic, pre-processing on the float side."""
    precision = check_precision(config)
    files = (model, *prepared.stages)
    names = [step.name for step in prepared.steps]
    at = names.index(precision.LABEL) if precision.LABEL in names else len(names) - 1
    return files[at], files[at + 1]


def check_precision(config: Config) -> Any:
    """The precision of a config; one without has no layers to look at."""
    if config.precision is None:
        raise ConfigError(
            "this config has no precision, so nothing of it was quantized",
            "give one: wb.Config(precision=wb.StaticInt8())",
        )
    return config.precision


def as_qdq(config: Config) -> tuple[Config, tuple[str, ...]]:
    """Integer operators keep no float tensors: the same ranges as Q and DQ nodes show the same errors."""
    precision = config.precision
    if not isinstance(precision, StaticInt8) or precision.format == "qdq":
        return config, ()
    note = "looked at in the form of Q and DQ nodes: integer operators leave no tensor to compare"
    return config.replace(precision=replace(precision, format="qdq")), (note,)


def takes_exclude(config: Config) -> Any:
    """The precision, where single nodes can be left out of it."""
    precision = check_precision(config)
    if isinstance(precision, Given) or not hasattr(precision, "exclude"):
        raise ConfigError(
            f"{precision.LABEL} cannot leave out single nodes",
            "use wb.StaticInt8(), wb.DynamicInt8() or wb.WeightOnly(), which have exclude=(…)",
        )
    return precision
