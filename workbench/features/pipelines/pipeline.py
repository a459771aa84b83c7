"""`wb.Pipeline`: models and functions in turn."""

from __future__ import annotations

import os
from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any

from workbench.core.config import Config
from workbench.core.errors import ConfigError
from workbench.core.models import Model, load
from workbench.core.models.fit import check_fit
from workbench.core.text import quoted
from workbench.features.pipelines.user_function import UserFunction, is_function_text, user_function

_EXAMPLE = (
    'wb.Pipeline([("resize", resize), "detector.onnx", ("classifier.onnx", wb.Config(…)), "steps.py:name"])'
)
MOST_STAGES = 32


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage: a function, or a model with its config."""

    name: str
    function: UserFunction | None = None
    model: Model | None = None
    config: Config = field(default_factory=Config)


class Pipeline:
    """Models and functions in turn, each with a name.

    A stage is a function, a model, a model with its config, or a pair of a name and one of these; a text such
    as "steps.py:resize" names a function of a file. A function takes inputs by the names of its parameters
    and returns a dict of outputs, or one. Outputs go to the inputs of the same name of any later stage, and
    the only output of a stage to the only input of the next one. Functions run in the worker process alone.

    >>> import workbench as wb
    >>> wb.Pipeline(["digits-conv", ("again", "digits-conv", wb.Config(level="basic"))])
    Pipeline(digits-conv → again)
    """

    def __init__(self, stages: Iterable[Any]) -> None:
        self.stages = tuple(map(_stage, stages))
        names = [stage.name for stage in self.stages]
        if not self.models:
            raise ConfigError("a pipeline without a model has nothing to tune", f"give one: {_EXAMPLE}")
        if len(names) > MOST_STAGES:
            raise ConfigError(f"{len(names)} stages are too many", f"give at most {MOST_STAGES}")
        for name in names:
            if names.count(name) > 1:
                raise ConfigError(f"two stages are called {quoted(name)}", "name each: (name, stage)")
        interpreters = {stage.config.interpreter for stage in self.models}
        if len(interpreters) > 1:
            raise ConfigError(
                "the configs name several environments, and a pipeline runs in one process",
                "give all of them the same runtime=",
            )

    @property
    def models(self) -> tuple[Stage, ...]:
        """The stages that are models."""
        return tuple(stage for stage in self.stages if stage.model is not None)

    @property
    def name(self) -> str:
        """The names of its stages with arrows."""
        return " → ".join(stage.name for stage in self.stages)

    def in_float(self) -> Pipeline:
        """Return the pipeline with the models as they came."""
        other = copy(self)
        other.stages = tuple(
            replace(stage, config=stage.config.replace(precision=None)) for stage in self.stages
        )
        return other

    def __repr__(self) -> str:
        return f"Pipeline({self.name})"


def _stage(value: Any) -> Stage:
    """Read one stage: what it may be stands in the docstring of the pipeline."""
    if not isinstance(value, tuple):
        return _unnamed(value)
    if len(value) == 2 and isinstance(value[1], Config):
        return _unnamed(*value)
    if len(value) in (2, 3) and isinstance(value[0], str):
        return _unnamed(*value[1:], name=value[0])
    raise ConfigError(f"{quoted(value)} is no stage of a pipeline", f"write it like this: {_EXAMPLE}")


def _unnamed(value: Any, config: Any = None, *, name: str | None = None) -> Stage:
    if isinstance(value, tuple):
        return _unnamed(*value, name=name)
    if callable(value) or is_function_text(value):
        if config is not None:
            raise ConfigError("a function has no config", f"give the config to a model: {_EXAMPLE}")
        function = user_function(value)
        return Stage(name or function.name, function)
    is_model = isinstance(value, str | bytes | os.PathLike | Model) or hasattr(value, "graph")
    if not is_model or not isinstance(config, Config | None):
        raise ConfigError(f"{quoted(value)} is no stage of a pipeline", f"write it like this: {_EXAMPLE}")
    model, config = load(value), config or Config()
    check_fit(model, config)
    if config.engine is not None or config.io_binding:
        raise ConfigError(
            "a stage runs on ONNX Runtime, and stages exchange arrays",
            "leave engine and io_binding out of its config",
        )
    return Stage(name or model.name, None, model, config)
