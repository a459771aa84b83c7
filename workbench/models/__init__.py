"""Models and their inputs: open, describe, feed. Names are imported at first use."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workbench.models.description import Description, check_supported
    from workbench.models.inputs import Inputs
    from workbench.models.loading import load
    from workbench.models.model import Model

__all__ = ["Description", "Inputs", "Model", "check_supported", "load"]

_HOMES = {
    "Description": "description",
    "Inputs": "inputs",
    "Model": "model",
    "check_supported": "description",
    "load": "loading",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
