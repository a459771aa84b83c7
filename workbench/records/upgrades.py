"""Bundles of earlier versions, brought forward one version at a time.

To change what a record holds: raise VERSION, add the step from the version before, and keep the golden
file of that version in tests/records/golden. A step takes and returns the data of record.json; it may
trust nothing in it, and may raise what Python raises for data of the wrong form.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from workbench.errors import BundleError
from workbench.records.jsontext import DAMAGED
from workbench.text import quoted

VERSION = 1

Step = Callable[[str, dict[str, Any]], dict[str, Any]]  # (kind, data of version n) to data of version n + 1


STEPS: Mapping[int, Step] = {}  # version 1 is the first: there is nothing to bring forward yet


def upgrade(kind: str, version: int, data: object) -> object:
    """`data`, written as `version`, in the form of VERSION."""
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
    """A later version may mean anything, so it is not guessed at."""
    if version > VERSION:
        raise BundleError(
            f"The bundle has version {quoted(version)}; this workbench reads versions up to {VERSION}.",
            "Update ort-workbench to the version that wrote it or a later one.",
        )
