"""Make the missing parts of a comparison, and measure further rounds of it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from workbench.core.bundle.comparison import ComparisonRecord, Doubt
from workbench.core.bundle.kinds import Part
from workbench.core.bundle.run import Run
from workbench.core.config import Config
from workbench.core.cpu import usable_cores
from workbench.core.errors import ConfigError, ModelError, WorkbenchError
from workbench.core.measure.bar import bar
from workbench.core.measure.compare import compare
from workbench.core.measure.continuing import request_to_continue
from workbench.core.measure.goal import PrecisionGoal
from workbench.core.measure.limits import Limits, ShowProgress
from workbench.core.models import Inputs, Model, load
from workbench.core.models.usual import sizes_in
from workbench.core.prepare.calibration import real_inputs
from workbench.core.prepare.real_data import inputs_from
from workbench.core.prepare.runnable import Runnable, make_runnable
from workbench.drawing.latency_scene import latency_scene
from workbench.features.base.registry import KINDS
from workbench.features.base.result import Result, origin_of

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from workbench.drawing.scene import Scene


@dataclass(slots=True, kw_only=True)
class ExaminedRun:
    """One run of a comparison, as the `examine` function of a result kind gets it."""

    run: Run
    comparison: ComparisonRecord
    model: Model
    inputs: Inputs
    calibration: Any
    records: dict[str, Any]  # by the name of the part; grows
    on_part: Callable[[Part], None]
    on_step: Callable[[str], None] | None
    cancel: threading.Event | None
    _runnable: Runnable | None = None

    @property
    def label(self) -> str:
        return self.run.label

    @property
    def config(self) -> Config:
        return self.run.config

    def announce(self, step: str) -> None:
        """Report the step that begins."""
        if self.on_step is not None:
            self.on_step(f"{self.label}: {step}")

    def record(self, kind: str) -> Any:
        """Return the run's record of a kind; make it where it is missing."""
        name = f"{kind}/{self.label}"
        if name not in self.records:
            examine = KINDS.named(kind).examine
            assert examine is not None, f"{kind} cannot be examined"
            began_s = time.monotonic()
            self.records[name] = examine(self)
            self.announce(f"{kind} took {time.monotonic() - began_s:.1f} s")
            about = origin_of(self.model, self.config, self.inputs, cancel=self.cancel)
            self.on_part(Part(name, self.records[name], about))
        return self.records[name]

    def runnable(self) -> Runnable:
        """Prepare the file, the session's config and the feeds once."""
        if self._runnable is None:
            self.announce("preparation")
            self._runnable = make_runnable(
                self.model, self.config, self.inputs.feeds,
                calibration=self.calibration, cancel=self.cancel,
            )  # fmt: skip
        return self._runnable

    @property
    def threads(self) -> int:
        """The threads that the run had, for the peaks of the machine."""
        return self.run.threads or usable_cores()


def check_kinds(kinds: tuple[str, ...]) -> tuple[str, ...]:
    """Return these kinds in the registry's order, all of them if none is named; refuse unknown names."""
    examinable = KINDS.examinable
    for kind in kinds:
        if kind not in examinable:
            raise ConfigError(f"{kind!r} is nothing to examine", f"choose from: {', '.join(examinable)}")
    return tuple(kind for kind in examinable if not kinds or kind in kinds)


def check_same(model: Model, record: ComparisonRecord) -> None:
    """Refuse another file than the one that was measured."""
    if model.sha256 != record.model.sha256:
        raise ModelError(
            f"{model.name} is not the model of this result: its SHA-256 begins with {model.sha256[:12]}",
            f"attach the file whose SHA-256 begins with {record.model.sha256[:12]}",
        )


def missing_part(record: ComparisonRecord, kind: str, label: str | None, has_model: bool) -> WorkbenchError:
    """Return the error that says why a part is missing and how to make it."""
    run = next((run for run in record.runs if run.label == label), None)
    if label is not None and run is None:
        known = ", ".join(run.label for run in record.runs)
        return ConfigError(f"there is no run {label!r}", f"the runs are: {known}")
    if run is not None and run.failure is not None:
        problem = f"{label} failed ({run.failure.problem}), so it has no {kind}"
        return WorkbenchError(problem, run.failure.fix)
    of_run = "" if label is None else f" of {label}"
    problem = f"this result has no {kind}{of_run} yet"
    if not has_model:
        return missing_model(problem, f"examine({kind!r})")
    return WorkbenchError(problem, f"result.examine({kind!r}) makes it")


def missing_model(problem: str, call: str) -> WorkbenchError:
    """Return the error of a reopened result that needs its model for `call`."""
    return WorkbenchError(problem, f"give it the model that was measured: result.attach(model).{call}")


def inputs_again(model: Model, record: ComparisonRecord) -> Inputs:
    """Make the random inputs of the measurement again, from their seed and shapes."""
    measured = record.inputs
    real = real_inputs(model, [run.config for run in record.runs], None)
    if real is not None and real.record().made_by == measured.made_by:
        return real
    if measured.seed is None:
        raise ModelError(
            f"this result was measured with inputs of your own ({measured.made_by[:80]}), "
            "which it does not hold",
            "give them again: result.attach(model, inputs=…)",
        )
    dims = sizes_in(model.structure, measured.shapes)
    return model.draw(measured.seed, dims)


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
        worker_limits: Limits | None = None,
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
            self._rounds,
            self._model,
            inputs,
            budget_s=budget_s,
            calibration=self._calibration,
            limits=worker_limits,
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
