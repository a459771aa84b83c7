"""Bundles with altered numbers are refused, or every display of them is clean: no error but our own."""

from __future__ import annotations

import functools
import io
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.amount import amount, sample
from tests.core.bundle.hostile import zipped
from tests.features.base.strangers import GOLDEN
from workbench.core.bundle.bundle import unpack_record
from workbench.core.errors import WorkbenchError
from workbench.drawing.chart import Look, Value
from workbench.features.base.registry import KINDS

NUMBERS = ("nan", "inf", "-inf", 0, -1, 1e308, 2**62, None)
REALS = (np.nan, np.inf, -np.inf, 0.0, -1.0, 1e308)
INTEGERS = (0, -1, 1, 2**62)
MOST_FIELDS = 30  # of a row
PLACES = 4  # in each column, beside all of it
QUICK = ("__str__", "__repr__", "to_frame", "figure", "still")


def members_of(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def places_of(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every number and absent value in JSON; of rows those of the first."""
    if isinstance(data, dict):
        for key, value in data.items():
            yield from places_of(value, (*path, key))
    elif isinstance(data, list):
        rows = bool(data) and isinstance(data[0], dict | list)
        for index, value in enumerate(data[:1] if rows else data[:MOST_FIELDS]):
            yield from places_of(value, (*path, index))
    elif data is None or (isinstance(data, int | float) and not isinstance(data, bool)):
        yield path


def altered(path: Path, count: int) -> Iterator[tuple[str, dict[str, bytes]]]:
    """The members with one number, or all numbers of a column, changed, and what was changed."""
    members = members_of(path)
    changes = [*changes_of_numbers(members), *changes_of_columns(members)]
    for name, place, value in sample(changes, count, path.stem):
        change = changed_column if name.endswith(".npy") else changed_number
        yield f"{name} {place} = {value}", {**members, name: change(members[name], place, value)}


def changes_of_numbers(members: dict[str, bytes]) -> Iterator[tuple[str, Any, Any]]:
    for name in (name for name in members if name.endswith("record.json")):
        places = list(places_of(json.loads(members[name])))
        yield from ((name, place, value) for place in places for value in NUMBERS)


def changes_of_columns(members: dict[str, bytes]) -> Iterator[tuple[str, Any, Any]]:
    for name in (name for name in members if name.endswith(".npy")):
        column = np.load(io.BytesIO(members[name]))
        places = (slice(None), *range(0, len(column), max(1, len(column) // PLACES)))
        values = REALS if column.dtype.kind == "f" else INTEGERS
        yield from ((name, place, value) for value in values for place in places)


def value_at(data: Any, place: Any) -> Any:
    return functools.reduce(lambda part, key: part[key], place, data)


def changed_number(blob: bytes, place: Any, value: Any) -> bytes:
    data = json.loads(blob)
    value_at(data, place[:-1])[place[-1]] = value
    return json.dumps(data).encode()


def changed_column(blob: bytes, place: Any, value: Any) -> bytes:
    column = np.load(io.BytesIO(blob))
    column[place] = value
    file = io.BytesIO()
    np.save(file, column)
    return file.getvalue()


def broken_displays(path: Path, count: int, *, whole: bool) -> list[str]:
    """What raised anything but an error of ours. `whole`: the cell and the page as well."""
    faults = []
    for change, members in altered(path, count):
        try:
            result = KINDS.result(unpack_record(zipped(members), KINDS))
        except WorkbenchError:
            continue
        for name in ("_repr_mimebundle_", "page_html") if whole else QUICK:
            try:
                getattr(result, name)()
            except WorkbenchError:
                continue
            except Exception as error:  # noqa: BLE001 - what else a display raises is the fault looked for
                faults.append(f"{change}: {name} raised {error!r}")
    return faults


@pytest.mark.thorough
@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_altered_numbers_are_refused_or_displayed(path: Path) -> None:
    assert broken_displays(path, amount(5, 3), whole=False) == []


@pytest.mark.thorough
@pytest.mark.usefixtures("coarse", "without_plotly")
@pytest.mark.parametrize("name", ["roofline", "peaks", "why-slower"])
def test_altered_numbers_break_no_page(name: str) -> None:
    path = next(path for path in GOLDEN if path.stem.startswith(name))
    assert broken_displays(path, 2, whole=True) == []


def test_a_roofline_with_counts_below_zero_is_refused() -> None:
    path = next(path for path in GOLDEN if path.stem.startswith("roofline"))
    members = members_of(path)
    data = json.loads(members["record.json"])
    counts = [place for place in places_of(data["nodes"]) if isinstance(value_at(data["nodes"], place), int)]
    assert counts
    for place in counts:
        changed = changed_number(members["record.json"], ("nodes", *place), -1)
        with pytest.raises(WorkbenchError):
            unpack_record(zipped({**members, "record.json": changed}), KINDS)


def test_numbers_that_no_axis_has_are_not_drawn() -> None:
    look = Look("#000")
    for number in (float("nan"), float("inf"), -float("inf"), 1e308):
        value = Value(number, "without end", look, low=0.0, high=number)
        assert (value.value, value.interval, value.text) == (None, None, "without end")
    assert Value(1.0, "1", look, low=0.0, high=2.0).interval == (0.0, 2.0)
