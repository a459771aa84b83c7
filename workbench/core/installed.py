"""Whether a package is here that measuring needs and an environment that only reads results lacks."""

from __future__ import annotations

from importlib.util import find_spec

from workbench.core.errors import MissingPackage

_FIX = "pip install ort-workbench, without --no-deps: that installs all that measuring needs"


def need(package: str) -> None:
    """Refuse to go on without a package, before its import."""
    if find_spec(package) is None:
        raise MissingPackage(f"{package} is not installed: this environment only reads saved results", _FIX)
