"""The accuracy of a comparison's configs beside their speed: also from a reopened bundle."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from workbench.errors import WorkbenchError
from workbench.measure.bar import bar
from workbench.measure.limits import Progress
from workbench.records.kinds import Part
from workbench.results.accuracy import AccuracyTable
from workbench.results.examined import Examined
from workbench.results.origin import origin_of

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

    from workbench.figures.scene import Scene

PART = "accuracy"


class Precise(Examined):
    """A comparison whose configs may differ in arithmetic."""

    def accuracy(
        self,
        data: Any = None,
        *,
        metric: str | Callable[[Mapping[str, Any], Any], Any] | None = None,
        output: str | None = None,
        scores: Mapping[str, bool] | None = None,
        items: int | None = None,
        batch: int | None = None,
        progress: bool | Callable[[Progress], None] = True,
        cancel: threading.Event | None = None,
    ) -> AccuracyTable:
        """Accuracy with labels, and the error of every output, of every config; see `wb.accuracy`.

        It is kept with the result. Without arguments what was kept is given, also without the model.
        """
        from workbench.analysis.fidelity.accuracy import accuracy

        asked = any(value is not None for value in (data, metric, output, scores, items, batch))
        kept = next((part for part in self.parts if part.name == PART), None)
        if kept is not None and not asked:
            return AccuracyTable(kept.record, kept.about)
        if self._model is None:
            raise WorkbenchError(
                "the accuracy cannot be measured: the model is not at hand",
                "give it the model that was measured: result.attach(model).accuracy()",
            )
        with bar(progress) as on_progress:
            told = accuracy(
                self._model, [run.config for run in self.record.runs], data=data, metric=metric,
                output=output, scores=scores, calibration=self._calibration, most=items, batch=batch,
                labels=[run.label for run in self.record.runs], cancel=cancel, on_progress=on_progress,
            )  # fmt: skip
        about = origin_of(self._model, self.record.runs[0].config)
        self.with_part(Part(PART, told, about))
        return AccuracyTable(told, about)

    def precision_frame(self) -> pd.DataFrame:
        """One row a config: latency and speed-up with intervals, file, memory, accuracy, error.

        Accuracy and error are those that `accuracy()` kept; the error is of the timed inputs where it was
        not called, and `error_from` says which.
        """
        from workbench.judge.side_by_side import precision_frame

        return precision_frame(self.record, self._kept_accuracy())

    def precision_figure(self) -> go.Figure:
        """Speed against accuracy, or against the error where there is no accuracy."""
        from workbench.figures.precision import precision_figure

        return precision_figure(self.record, self._kept_accuracy())

    def precision_still(self) -> Scene:
        """The table of all configs as a picture."""
        from workbench.figures.precision import precision_scene

        return precision_scene(self.record, self._kept_accuracy())

    def _kept_accuracy(self) -> Any:
        return next((part.record for part in self.parts if part.name == PART), None)
