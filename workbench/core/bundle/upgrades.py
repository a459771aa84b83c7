"""Upgrades of earlier bundles, one version at a time.

A field that has a default may be added as it is: a file without it reads as the default. To change fields in
another way: raise VERSION, add the step from the previous version, and keep the golden
file of that version in tests/core/bundle/golden. A step takes and returns the data of record.json; it must
not trust the data, and may raise any Python exception for data of the wrong form.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from workbench.core.bundle.jsontext import DAMAGED
from workbench.core.errors import BundleError
from workbench.core.text import quoted

VERSION = 1

Step = Callable[[str, dict[str, Any]], dict[str, Any]]  # (kind, data of version n) to data of version n + 1
STEPS: Mapping[int, Step] = {}  # version 1 is the first: no upgrade exists yet


def upgrade(kind: str, version: int, data: object) -> object:
    """Return `data`, written as `version`, in the form of VERSION."""
    refuse_newer(version)
    if version < 1:
        raise BundleError(f"The bundle has version {version}; there are versions up to {VERSION}.", DAMAGED)
    for step in range(version, VERSION):
        if not isinstance(data, dict):
            raise BundleError("record.json does not hold an object.", DAMAGED)
        try:
            data = STEPS[step](kind, data)
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
            raise BundleError(f"The record does not fit version {step}: {error!r}.", DAMAGED) from error
    return data


def refuse_newer(version: int) -> None:
    """Refuse a later version, whose meaning is unknown."""
    if version > VERSION:
        raise BundleError(
            f"The bundle has version {quoted(version)}; this workbench reads versions up to {VERSION}.",
            "Update ort-workbench to the version that wrote it or a later one.",
        )
