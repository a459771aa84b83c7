"""The kinds of record that a bundle can hold, and what must hold beyond the types of the fields."""

from __future__ import annotations

import math
from collections.abc import Mapping

from workbench.errors import BundleError
from workbench.records.comparison import ComparisonRecord
from workbench.records.jsontext import shorten

Record = ComparisonRecord  # a union, once there are more

KINDS: Mapping[str, type[Record]] = {"comparison": ComparisonRecord}


def kind_of(record: object, fix: str) -> str:
    """The word that a manifest uses for the type of `record`."""
    for kind, cls in KINDS.items():
        if type(record) is cls:
            return kind
    raise BundleError(f"A bundle cannot hold a {type(record).__name__}: only {', '.join(KINDS)}.", fix)


def check(record: Record, fix: str) -> None:
    """Refuse a record that no measurement could have made; everything that shows one relies on this."""
    if not record.id or len(record.id) > 64 or not record.id.isascii() or not record.id.isprintable():
        raise BundleError("id: expected 1 to 64 printable ASCII letters.", fix)
    labels = [run.label for run in record.runs]
    if len(labels) < 2 or len(set(labels)) != len(labels):
        raise BundleError("runs: expected two or more runs, each with its own label.", fix)
    if [verdict.label for verdict in record.verdicts] != labels[1:]:
        raise BundleError("verdicts: expected one for each run after the first, in their order.", fix)
    for at, verdict in enumerate(record.verdicts):
        for name in ("ratio", "low", "high"):
            value = getattr(verdict, name)
            if value is not None and not 0 < value < math.inf:
                raise BundleError(f"verdicts[{at}].{name}: expected a positive number, got {value}.", fix)
    for run in record.runs:
        if any(not block.samples_s for process in run.processes for block in process.blocks):
            raise BundleError(f"Run {shorten(run.label)} has a block without samples.", fix)
    for at, agreement in enumerate(record.agreement):
        if agreement.label not in labels[1:]:
            raise BundleError(f"agreement[{at}].label: there is no such candidate.", fix)
    for at, doubt in enumerate(record.doubts):
        if doubt.label is not None and doubt.label not in labels:
            raise BundleError(f"doubts[{at}].label: there is no such run.", fix)
