"""Describe a chart once: rows of bars or dots with their intervals, on one or more axes.

`chart_figure` draws a chart with plotly, `chart_scene` as a still picture. All texts are untrusted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Literal

from workbench.core.bundle.estimate import Estimate
from workbench.core.text import in_mib, in_ms
from workbench.drawing.palette import DASHES, PATTERNS, SERIES, STRONG, SYMBOLS, TEXT, Pattern
from workbench.drawing.scale import Scale

if TYPE_CHECKING:
    from workbench.core.measure.percentiles import Figure

AxisKind = Literal["bar", "stack", "dot"]  # bars and stacks begin at zero


DRAWABLE = 1e100  # sums and logarithms of what is drawn stay finite


@dataclass(frozen=True, slots=True)
class Look:
    """How a series is drawn as points, line or bar. One without a name has no entry in the legend."""

    color: str
    pattern: Pattern = ""
    symbol: str = "circle"
    name: str = ""
    hollow: bool = False
    dash: str = "solid"


@dataclass(frozen=True, slots=True)
class Value:
    """A bar or a dot with its interval. `text` says the value, or why there is none."""

    value: float | None
    text: str
    look: Look
    low: float | None = None
    high: float | None = None
    detail: str = ""  # more text on hover

    def __post_init__(self) -> None:
        """Draw no number that has no place on an axis: a stranger's bundle may hold NaN, Inf or 1e308."""
        for name in ("value", "low", "high"):
            number = getattr(self, name)
            if number is not None and not abs(number) < DRAWABLE:
                object.__setattr__(self, name, None)

    @property
    def interval(self) -> tuple[float, float] | None:
        return None if self.low is None or self.high is None else (self.low, self.high)


@dataclass(frozen=True, slots=True)
class ChartRow:
    """A label and its values on each axis."""

    label: str
    values: tuple[tuple[Value, ...], ...]
    totals: tuple[str, ...] = ()  # beside the stack on each axis


@dataclass(frozen=True, slots=True)
class ReferenceLine:
    """A value across all rows of an axis."""

    value: float
    text: str = ""


@dataclass(frozen=True, slots=True)
class Axis:
    """A scale with its title, which names the unit."""

    title: str
    kind: AxisKind = "bar"
    lines: tuple[ReferenceLine, ...] = ()

    def __post_init__(self) -> None:
        lines = tuple(line for line in self.lines if abs(line.value) < DRAWABLE)
        object.__setattr__(self, "lines", lines)


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart of `columns` axes side by side. Of a sentence the part before "; " is bold."""

    sentences: tuple[str, ...]
    axes: tuple[Axis, ...]
    rows: tuple[ChartRow, ...]
    note: str = ""
    columns: int = 1

    def looks(self) -> tuple[Look, ...]:
        """Return the named looks, in the order of the legend."""
        named = {value.look.name: value.look for _, value in self.all_values() if value.look.name}
        return tuple(named.values())

    def all_values(self) -> Iterator[tuple[int, Value]]:
        """Yield each value with the index of its axis."""
        for row in self.rows:
            for axis, values in enumerate(row.values):
                yield from ((axis, value) for value in values)

    def span(self, axis: int) -> tuple[float, float]:
        """Return the least and the largest number on an axis, zero included where bars stand on it."""
        kind = self.axes[axis].kind
        ends = [line.value for line in self.axes[axis].lines]
        if kind == "stack":
            for row in self.rows:
                ends += accumulate(value.value or 0.0 for value in row.values[axis])
        else:
            values = [value for index, value in self.all_values() if index == axis]
            numbers = [number for value in values for number in (value.value, value.low, value.high)]
            ends += [number for number in numbers if number is not None]
        if kind != "dot" or not ends:
            ends.append(0.0)
        least, most = min(ends), max(ends)
        if kind == "dot":
            rooms = (0.06 * (most - least), abs(most) / 10, 1.0)
            room = next(room for room in rooms if room * DRAWABLE > 1)
            return least - room, most + room
        return least, most if (most - least) * DRAWABLE > 1 else least + 1.0


def one_value(label: str, *values: Value) -> ChartRow:
    """Return a row with one value on each axis."""
    return ChartRow(label, tuple((value,) for value in values))


def value_of(estimate: Estimate, text: str, look: Look, detail: str = "") -> Value:
    """Return an estimate with its interval."""
    return Value(estimate.value, text, look, estimate.low, estimate.high, detail)


def time_value(
    seconds: Estimate | float | None, look: Look, absent: str = "not measured", *, digits: int = 4,
    detail: str = "",
) -> Value:  # fmt: skip
    """Return a time in milliseconds; `absent` says why there is none."""
    time = seconds if isinstance(seconds, Estimate) else Estimate(seconds)
    return value_of(time.times(1e3), in_ms(time.value, digits) or absent, look, detail)


def size_value(size: int | None, look: Look, absent: str = "not known", *, detail: str = "") -> Value:
    """Return a size in MiB; `absent` says why there is none."""
    return Value(mebibytes(size), in_mib(size) or absent, look, detail=detail)


def estimate_value(estimate: Figure, scale: Scale, look: Look, absent: str) -> Value:
    """Return an estimate of a latency with its interval; `absent` says why there is none."""
    seconds, low, high = estimate.value, estimate.low, estimate.high
    if seconds is None:
        return Value(None, absent, look)
    if low is None or high is None:
        return Value(scale.of(seconds), scale.text(seconds), look)
    text = f"{scale.text(seconds)} ({scale.number(low)} to {scale.number(high)})"
    return Value(scale.of(seconds), text, look, scale.of(low), scale.of(high))


def run_look(index: int, name: str = "") -> Look:
    """Return the look of a run, the same in every figure; those of the first 20 are all different."""
    # Four colours and five symbols have no common divisor, so both may simply go round.
    turn = index % len(DASHES)
    return Look(STRONG[index % len(STRONG)], PATTERNS[turn], SYMBOLS[turn], name, dash=DASHES[turn])


def series_look(index: int, name: str = "") -> Look:
    """Return the look of a series that is no run."""
    color, pattern, symbol = SERIES[index % len(SERIES)]
    return Look(color, pattern, symbol, name)


GREY = Look(TEXT, ".", "square")  # time of no node, the source graph


def headlines(text: str, count: int) -> tuple[str, ...]:
    """Return the first lines of a text, one about each config; the name before the colon will be bold."""
    return tuple(line.replace(": ", "; ", 1) for line in text.splitlines()[:count])


def rows_left_out(count: int, drawn: int, what: str) -> str:
    """Return the note about rows that only the table has."""
    return f"{count - drawn} more {what} in the table" if count > drawn else ""


def percent(share: float | None) -> float | None:
    """Return a share in percent."""
    return None if share is None else share * 100


def milliseconds(seconds: float | None) -> float | None:
    """Return seconds in milliseconds."""
    return None if seconds is None else seconds * 1e3


def mebibytes(size: int | None) -> float | None:
    """Return bytes in MiB."""
    return None if size is None else size / (1 << 20)
