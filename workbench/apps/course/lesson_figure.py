"""What a lesson reads from results of the workbench: a sentence, a table and a chart."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from workbench.core.bundle.display import data_frame
from workbench.drawing.chart import Axis, Chart, ReferenceLine, Value, one_value
from workbench.features.base.exportable import Exportable

if TYPE_CHECKING:
    import pandas as pd


class LessonFigure(Exportable):
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


def dots(title: Sequence[str], axis: str, values: Iterable[tuple[str, Value]], none: float = 1.0) -> Chart:
    """Return a chart with a dot for each value, and a line where there is no effect."""
    rows = tuple(one_value(label, value) for label, value in values)
    return Chart(tuple(title), (Axis(axis, "dot", (ReferenceLine(none),)),), rows)
