"""`wb.Pipeline`: models and functions in turn."""

from __future__ import annotations

import ast
import inspect
import os
import sys
from collections.abc import Callable, Iterable
from copy import copy
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from textwrap import dedent
from types import FunctionType, ModuleType
from typing import Any

from workbench.core.config import Config
from workbench.core.errors import ConfigError
from workbench.core.models import Model, load
from workbench.core.models.fit import check_fit
from workbench.core.stored_files import expanded
from workbench.core.text import quoted

_DEFINE = "define it with def at the top of a module or a notebook, with what it needs as parameters or there"
_FUTURE = "from __future__ import annotations"


@dataclass(frozen=True, slots=True)
class UserFunction:
    """A function by name, with the source that it stands in."""

    name: str
    place: str  # its module, or "notebook"
    source: str  # of the whole module, or of the function and what it uses
    file: Path | None  # None: there is no file but the notebook
    is_module: bool = False  # imported by the name of its module

    @property
    def qualified_name(self) -> str:
        return f"{self.place}:{self.name}"

    @property
    def source_sha256(self) -> str:
        return sha256(self.source.encode()).hexdigest()

    def sent(self, folder: Path, file_name: str) -> dict[str, Any]:
        """Return what the worker needs; the source of a notebook is written to a file of this name."""
        file = self.file
        if file is None:
            file = folder / f"{file_name}.py"
            file.write_text(self.source, "utf-8")
        module = self.place if self.is_module else None
        return {
            "function": self.name,
            "module": module,
            "file": str(file),
            "paths": list(filter(None, sys.path)),
        }


def is_function_text(value: object) -> bool:
    """Return whether a text names a function of a file, such as "steps.py:resize"."""
    return isinstance(value, str) and value.rpartition(":")[0].endswith(".py")


def user_function(value: Callable[..., Any] | str) -> UserFunction:
    """Return a function, or the one that a text names; no code of the user's runs here."""
    if isinstance(value, str):
        return _of_text(value)
    name = getattr(value, "__qualname__", type(value).__name__)
    if not isinstance(value, FunctionType) or not name.isidentifier() or value.__closure__:
        kind = (
            "a lambda" if "<lambda>" in name else "a closure" if "<locals>" in name else "no plain function"
        )
        raise ConfigError(f"{quoted(name)} is {kind}, which no other process can import", _DEFINE)
    module = sys.modules.get(value.__module__)
    file = getattr(module, "__file__", None)
    if file is None or value.__module__ == "__main__":
        return UserFunction(name, "notebook", _own_source(value), None)
    return UserFunction(name, value.__module__, _read(Path(file)), Path(file), is_module=True)


def _of_text(text: str) -> UserFunction:
    place, _, name = text.rpartition(":")
    file = expanded(place).resolve()
    source = _read(file)
    try:
        defined = [node.name for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)]
    except (SyntaxError, ValueError) as error:
        raise ConfigError(
            f"{quoted(place)} is no Python file: {error}", "correct it, and try again"
        ) from error
    if name not in defined:
        raise ConfigError(
            f"{quoted(place)} defines no function {quoted(name)}",
            f"name one of {', '.join(defined)}" if defined else "define one there with def",
        )
    return UserFunction(name, file.stem, source, file)


def _read(file: Path) -> str:
    try:
        return file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{quoted(str(file))} cannot be read: {error}", "name a Python file") from error


def _own_source(function: FunctionType) -> str:
    """Return Python that defines a function of a notebook alone: imports, constants and helpers before it."""
    parts: dict[str, str] = {}
    _collect(function, parts)
    return "\n\n".join([_FUTURE, *parts.values()]) + "\n"


def _collect(function: FunctionType, parts: dict[str, str]) -> None:
    try:
        source = dedent(inspect.getsource(function))
    except (OSError, TypeError) as error:
        raise ConfigError(f"the source of {quoted(function.__name__)} is not known", _DEFINE) from error
    parts[function.__name__] = ""  # a helper may call it
    names = {node.id for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name)}
    names -= {*function.__code__.co_varnames, *function.__code__.co_cellvars}
    for name in sorted((names & function.__globals__.keys()) - parts.keys()):
        value = function.__globals__[name]
        if isinstance(value, FunctionType) and value.__module__ == function.__module__:
            _collect(value, parts)
        else:
            parts[name] = _definition(name, value, function.__name__)
    del parts[function.__name__]
    parts[function.__name__] = source


def _definition(name: str, value: Any, user: str) -> str:
    """Return the line that gives a name its value elsewhere: an import, or a literal."""
    if isinstance(value, ModuleType):
        return f"import {value.__name__} as {name}"
    module, own = getattr(value, "__module__", None), getattr(value, "__qualname__", "")
    if own.isidentifier() and module not in (None, "__main__"):
        return f"from {module} import {own} as {name}"
    text = repr(value)
    try:
        if ast.literal_eval(text) == value:
            return f"{name} = {text}"
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        pass
    raise ConfigError(
        f"{user} uses {quoted(name)}, a {type(value).__name__} of this notebook that no other process has",
        "make it inside of the function, or put both into a module file and import the function from there",
    )


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
