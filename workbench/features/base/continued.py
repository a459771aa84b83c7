"""Results of rounds that can go on: a comparison, and a config measured alone."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from workbench.core.bundle.comparison import ComparisonRecord, Doubt
from workbench.core.measure.bar import bar
from workbench.core.measure.compare import compare
from workbench.core.measure.continuing import request_to_continue
from workbench.core.measure.goal import PrecisionGoal
from workbench.core.measure.limits import Limits, ShowProgress
from workbench.core.models import Inputs, Model, load
from workbench.core.prepare.real_data import inputs_from
from workbench.drawing.latency_scene import latency_scene
from workbench.features.base.examining import check_same, inputs_again, missing_model
from workbench.features.base.result import Result

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from workbench.drawing.scene import Scene


class Continued(Result):
    """A result of rounds, with its model where that is at hand."""

    _model: Model | None = None
    _inputs: Inputs | None = None
    _calibration: Any = None
    _headline: str = ""  # above the samples, where nothing is judged
    _progress: bool = True  # whether it was measured with a progress bar

    def with_model(self, model: Model, inputs: Inputs, calibration: Any, progress: bool = True) -> Self:
        """Keep at hand what was measured, so that more can be made or measured."""
        self._model, self._inputs, self._calibration = model.with_inputs(inputs), inputs, calibration
        self._progress = progress
        return self

    @property
    def _rounds(self) -> ComparisonRecord:
        """All that was measured: the record itself, or what it holds."""
        rounds: ComparisonRecord = getattr(self.record, "measured", self.record)
        return rounds

    def _with_rounds(self, rounds: ComparisonRecord) -> Self:
        """Return the result of these rounds."""
        raise NotImplementedError

    def _goal(self) -> PrecisionGoal | None:
        """Return what must be known of a single config; None: a comparison."""
        return None

    @property
    def doubts(self) -> tuple[Doubt, ...]:
        """Reasons not to trust it fully, each with a fix."""
        return self._rounds.doubts

    def attach(self, model: Model | str | Path | Any, *, inputs: Any = None, calibration: Any = None) -> Self:
        """Give a reopened result its model, the same one, so that what is missing can be made or measured."""
        loaded = load(model)
        check_same(loaded, self._rounds)
        if inputs is not None:
            self._inputs = inputs_from(loaded, inputs)
        elif self._rounds.inputs.seed is not None:
            self._inputs = inputs_again(loaded, self._rounds)
        self._model = loaded if self._inputs is None else loaded.with_inputs(self._inputs)
        self._calibration = calibration
        return self

    def measure_more(
        self,
        *,
        budget_s: float = 30.0,
        progress: ShowProgress = True,
        cancel: threading.Event | None = None,
        limits: Limits | None = None,
        keep: bool = True,
    ) -> Self:
        """Measure further rounds and return a result that holds the earlier ones too.

        The error of a verdict is spent on, not anew. A reopened result needs its model (`attach`), the same
        machine and the same versions. `budget_s` bounds the further time.
        """
        if self._model is None:
            raise missing_model("measuring cannot go on: the model is not at hand", "measure_more()")
        inputs = self._inputs or inputs_again(self._model, self._rounds)
        request = request_to_continue(
            self._rounds, self._model, inputs, budget_s=budget_s, calibration=self._calibration, limits=limits
        )
        with bar(progress) as on_progress:
            request = replace(request, goal=self._goal())
            result = self._with_rounds(compare(request, on_progress=on_progress, cancel=cancel))
        result.with_model(self._model, inputs, self._calibration, progress is True)
        if keep:
            result.keep()
        return result

    def latency_figure(self) -> go.Figure:
        """Draw every sample, the median and its interval, before and after."""
        from workbench.drawing.latency import latency_figure

        return latency_figure(self._rounds, headline=self._headline)

    figure = latency_figure

    def still(self) -> Scene:
        """Draw the same as a picture, without a browser."""
        return latency_scene(self._rounds, self._headline)

    def timeline_figure(self) -> go.Figure:
        """Draw block medians in the order measured, so that drift and disturbance are visible."""
        from workbench.drawing.timeline import timeline_figure

        return timeline_figure(self._rounds)

    def ecdf_figure(self) -> go.Figure:
        """Draw the share of runs that took no longer than a given time."""
        from workbench.drawing.ecdf import ecdf_figure

        return ecdf_figure(self._rounds)
