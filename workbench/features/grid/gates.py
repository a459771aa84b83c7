"""The checks that a gate makes of a grid: each config at each size, or on each model."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from workbench.core.measure.gates import FINE, OPEN, Gate, of_comparison, was_measured
from workbench.core.text import in_ms, one_line
from workbench.features.grid.record import GridRecord, Place


def gates_of_grid(record: GridRecord, fail_if: Collection[str]) -> Iterator[Gate]:
    """Yield the checks of each size, or of each model."""
    for place in record.places:
        yield from _gates_of_place(record.name_of(place), place, fail_if)


def _gates_of_place(name: str, place: Place, fail_if: Collection[str]) -> Iterator[Gate]:
    """Yield the checks of one comparison, or of one config alone."""
    measured = place.measured
    if measured is None:
        yield Gate(name, OPEN, f"not measured: {one_line(place.problem or '')}")
    elif len(measured.runs) < 2:
        latency = in_ms(measured.runs[0].latency.median_s)
        code = FINE if was_measured(measured, measured.runs[0].label) else OPEN
        yield Gate(name, code, f"median {latency or 'not measured'}")
    else:
        for check in of_comparison(measured, fail_if):
            yield Gate(f"{name}: {check.name}", check.code, check.text)
