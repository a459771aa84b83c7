"""The installed packages that hold a plugin execution provider, recognised by their text: none is imported.

Standard library only: the worker imports this module.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib import import_module, metadata
from pathlib import Path

_VENDORS = ("AMD", "Apple", "Intel", "NVIDIA", "Qualcomm")
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


def plugin_packages() -> tuple[PluginPackage, ...]:
    """Return the packages of plugins in this environment."""
    packages = []
    for package in metadata.distributions():
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
