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

VERSION = 2

Step = Callable[[str, dict[str, Any]], dict[str, Any]]  # (kind, data of version n) to data of version n + 1


def _with_preparation(kind: str, data: dict[str, Any]) -> dict[str, Any]:
    """More kinds and parts; a run says how its model file was made ready, an output what was asked of it."""
    if kind == "comparison":
        for run in data["runs"]:
            run |= {"preparation": None, "population": "undisturbed"}
            for process in run["processes"]:
                process["session"] = 1
        for verdict in data["verdicts"]:
            verdict |= {"looks": [], "clock": "wall"}
        for output in data["agreement"]:
            output["least_sqnr_db"] = None
    return data


STEPS: Mapping[int, Step] = {1: _with_preparation}


def upgrade(kind: str, version: int, data: object) -> object:
    """`data`, written as `version`, in the form of VERSION."""
    refuse_newer(version)
    if version < 1:
        raise BundleError(f"The bundle has version {version}; there are versions 1 to {VERSION}.", DAMAGED)
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
            f"The bundle has version {quoted(version)}; this workbench reads versions 1 to {VERSION}.",
            "Update ort-workbench to the version that wrote it or a later one.",
        )
