"""A function of the user's as a worker imports it: from its module, or from a file with its own source."""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from textwrap import dedent
from types import FunctionType, ModuleType
from typing import Any

from workbench.core.errors import ConfigError
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
