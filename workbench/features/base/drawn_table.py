"""What is read from results that are there: a sentence with its table and its chart."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from workbench.core.bundle.display import data_frame
from workbench.core.bundle.estimate import Estimate
from workbench.drawing.chart import Axis, Chart, Look, ReferenceLine, Value, one_value, series_look
from workbench.features.base.exportable import Exportable

if TYPE_CHECKING:
    import pandas as pd


class DrawnTable(Exportable):
    """A sentence with its table and its chart. Columns in `numbers` hold numbers or nothing."""

    def __init__(
        self,
        sentence: str,
        chart: Chart,
        columns: Sequence[str],
        rows: Iterable[tuple[object, ...]],
        numbers: Sequence[str] = (),
    ) -> None:
        self.sentence, self._chart = sentence, chart
        self._columns, self._rows, self._numbers = columns, list(rows), numbers

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each row of the chart."""
        frame = data_frame(self._rows, columns=list(self._columns))
        return frame.astype(dict.fromkeys(self._numbers, "float64"))

    def _in_words(self) -> str:
        return self.sentence

    def chart(self) -> Chart:
        """Return what the figure and the picture draw."""
        return self._chart


def dots(
    title: Sequence[str], axis: str, sizes: Iterable[tuple[str, str, Estimate, str]], none: float = 1.0
) -> Chart:
    """Return a chart with a dot for each (label, series, size, text), and a line at no effect."""
    looks: dict[str, Look] = {}
    rows = []
    for label, series, size, text in sizes:
        look = looks.setdefault(series, series_look(len(looks), series))
        rows.append(one_value(label, dot(size, text, look)))
    return Chart(tuple(title), (Axis(axis, "dot", (ReferenceLine(none),)),), tuple(rows))


def dot(size: Estimate, text: str, look: Look) -> Value:
    """Return a size with its interval as a chart draws it."""
    return Value(size.value, text, look, size.low, size.high)
