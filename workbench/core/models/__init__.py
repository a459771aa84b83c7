"""Models and their inputs: open, describe, feed. Names are imported at first use."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workbench.core.models.inputs import Inputs as Inputs
    from workbench.core.models.loading import load as load
    from workbench.core.models.model import Model as Model

_HOMES = {"Inputs": "inputs", "Model": "model", "load": "loading"}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
