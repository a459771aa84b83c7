"""The installed packages that hold a plugin execution provider, recognised by their text: none is imported.

Standard library only: the worker imports this module.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

from workbench.core.errors import WorkerError

_VENDORS = ("AMD", "Apple", "Intel", "NVIDIA", "Qualcomm")
_PATH = "import json, sys; print(json.dumps([path for path in sys.path if path]))"
_TIMEOUT_S = 60.0  # a first start from a cold network disk takes seconds
LOCATES = re.compile(r"^def ((?:get_)?library_path)\(", re.MULTILINE)  # as ONNX Runtime asks of such packages


@dataclass(frozen=True, slots=True)
class PluginPackage:
    """A package of a plugin, and the function of its module that says where the library is.

    `vendors` are those of devices that its metadata names, if it names any.
    """

    requirement: str
    module: str
    function: str
    vendors: tuple[str, ...] = ()

    def library(self) -> str:
        """Import the package, which only the worker may do, and return the path of its library."""
        return str(getattr(import_module(self.module), self.function)())


def plugin_packages(python: str = sys.executable) -> tuple[PluginPackage, ...]:
    """Return the packages of plugins in the environment of an interpreter, by default this one."""
    packages = []
    for package in metadata.distributions(
        path=sys.path if python == sys.executable else printed_by(python, _PATH)
    ):
        for file in package.files or ():
            if len(file.parts) != 2 or file.name != "__init__.py" or not file.parts[0].isidentifier():
                continue
            path = Path(str(file.locate()))
            text = path.read_text("utf-8", errors="replace") if path.is_file() else ""
            if "execution_provider_library" in text and (function := LOCATES.search(text)):
                requirement = f"{package.name}=={package.version}"
                words = str(package.metadata).casefold()
                named = tuple(name for name in _VENDORS if re.search(rf"\b{name.casefold()}\b", words))
                packages.append(PluginPackage(requirement, file.parts[0], function[1], named))
    return tuple(packages)


def printed_by(python: str, script: str, *arguments: str) -> Any:
    """Return what a script prints as JSON in the environment of an interpreter."""
    alone = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [python, "-c", script, *arguments]
    try:
        answer = subprocess.run(command, capture_output=True, check=True, timeout=_TIMEOUT_S, env=alone)
        return json.loads(answer.stdout)
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        raise silent(python, error) from error


def silent(python: str, error: Exception) -> WorkerError:
    """Return the error of an interpreter that does not answer as it should."""
    return WorkerError(
        f"{python} does not tell its packages: {error}",
        "give the interpreter of an environment with Python 3.11 or newer",
    )
