"""A result as the part of another one: under the name of its kind and of the run that it is about."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from workbench.records.kinds import Part
from workbench.results.registry import KINDS
from workbench.results.resources import OfRuns
from workbench.results.result import Result

WHOLE = ("accuracy",)  # kinds that are about all runs at once


def parts_of(found: Result, label: str) -> tuple[Part, ...]:
    """One part; of a result that holds a record a run, one for each. A single run is called `label`."""
    if isinstance(found, OfRuns):
        runs = found.by_label if len(found.by_label) > 1 else {label: found.record}
        return tuple(
            Part(f"{found.kind}/{run}", _labelled(one, run), found.about) for run, one in runs.items()
        )
    kind = KINDS.of(found.saved, "Give what the workbench returned.").name
    return (Part(kind if kind in WHOLE else f"{kind}/{label}", found.saved, found.about),)


def _labelled(record: Any, label: str) -> Any:
    """Some records say themselves whose they are."""
    return replace(record, label=label) if hasattr(record, "label") else record
