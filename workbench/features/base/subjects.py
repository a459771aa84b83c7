"""What `wb.compare` compares: configs of a model, or model files, each with a config of its own."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

from workbench.core.config import Config, PreparedModel
from workbench.core.config.user_session import is_session
from workbench.core.errors import ConfigError
from workbench.core.models import Model, load
from workbench.core.text import listed, quoted

Outputs: TypeAlias = Mapping[str, str] | Literal["ignore"] | None

_EXAMPLE = "wb.compare(model, wb.Config(), wb.Config(…))"
FILES_EXAMPLE = (
    'wb.compare("a.onnx", "b.onnx"), or with a config each: wb.compare((a, wb.Config()), (b, config))'
)


def subjects_of(first: Any, others: Sequence[Any], outputs: Outputs) -> tuple[Model, tuple[Config, ...]]:
    """Return the model and the configs; another model file is a config that takes its place.

    A live session stands for its model with its own config, rebuilt in a worker.
    """
    if is_session(first):
        return subjects_of(load(first), (Config.from_session(first), *others), outputs)
    if not others:
        raise ConfigError(
            "a comparison needs two configs or more",
            f"{_EXAMPLE}; two model files: {FILES_EXAMPLE}; or measure one config alone: "
            "wb.measure(model, wb.Config(…))",
        )
    if not isinstance(first, tuple) and all(isinstance(other, Config) for other in others):
        if outputs is not None:
            raise ConfigError(
                f"outputs={quoted(outputs)} was given, and all configs are of one model file",
                f"leave it out, or give model files: {FILES_EXAMPLE}",
            )
        if len(others) < 2:
            return subjects_of(first, (), outputs)
        return load(first), tuple(others)
    for subject in (first, *others):
        _check_type(subject)
    pairs = [_pair(subject) for subject in (first, *others)]
    (source, config), *candidates = pairs
    model = load(source)
    return model, (config, *(_in_place(model, other, config, outputs) for other, config in candidates))


def _check_type(subject: Any) -> None:
    """Refuse what is neither a config, nor a model, nor a pair of both."""
    from onnx import ModelProto

    is_pair = isinstance(subject, tuple) and len(subject) == 2 and isinstance(subject[1], Config)
    if not is_pair and not isinstance(subject, Config | Model | ModelProto | str | bytes | os.PathLike):
        raise ConfigError(
            f"{quoted(subject)} is no config, no model and no pair of both",
            f"give {_EXAMPLE}, {FILES_EXAMPLE}",
        )


def _pair(subject: Any) -> tuple[Any, Config]:
    """Return a model and its config."""
    if isinstance(subject, Config):
        raise ConfigError(
            "a config stands alone among model files, so it is not known which one it is of",
            f"give pairs: {FILES_EXAMPLE}",
        )
    return subject if isinstance(subject, tuple) else (subject, Config())


def _in_place(model: Model, source: Any, config: Config, outputs: Outputs) -> Config:
    """Return the config that loads another file in place of the model's own."""
    other = load(source)
    if other.path == model.path:
        return config
    if isinstance(config.precision, PreparedModel):
        raise ConfigError(
            f"the config of {quoted(other.name)} names another file, {quoted(config.precision.model)}",
            f"give the file that is meant alone: {FILES_EXAMPLE}",
        )
    name, precision = source if isinstance(source, str) else str(other.path), config.precision
    if outputs is None:
        return config.replace(precision=PreparedModel(name, precision=precision))
    if outputs == "ignore":
        return config.replace(precision=PreparedModel(name, compare_outputs=False, precision=precision))
    if not isinstance(outputs, Mapping):
        raise ConfigError(
            f"outputs={quoted(outputs)} says nothing about outputs",
            f"give new names, outputs={{'339': 'logits'}}, or one of {listed(['ignore'])}",
        )
    renamed = PreparedModel(name, renamed_outputs=tuple(outputs.items()), precision=precision)
    return config.replace(precision=renamed)
