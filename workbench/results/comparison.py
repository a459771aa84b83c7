"""Two or more configs measured interleaved, as notebooks hold them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbench.judge.percentiles import percentiles, throughput
from workbench.judge.wording import report, sentence
from workbench.records.comparison import ComparisonRecord, Doubt, OutputAgreement, Verdict
from workbench.records.kinds import Part
from workbench.records.run import Run
from workbench.results.parts import parts_of
from workbench.results.precise import Precise
from workbench.results.result import Result

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

    from workbench.figures.scene import Scene
    from workbench.models import Inputs, Model


class Comparison(Precise):
    """Two or more configs of a model, measured interleaved, and the verdict. Made by `wb.compare`.

    >>> import workbench as wb
    >>> wb.Comparison.__name__
    'Comparison'
    """

    def __init__(
        self,
        record: ComparisonRecord,
        structure: bytes | None = None,
        *,
        parts: tuple[Part, ...] = (),
        model: Model | None = None,
        inputs: Inputs | None = None,
        calibration: Any = None,
    ) -> None:
        Result.__init__(self, record, structure=structure, parts=parts)
        self._model, self._inputs, self._calibration = model, inputs, calibration

    @property
    def verdict(self) -> Verdict:
        """The verdict on the first candidate."""
        return self.record.verdict

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """One verdict a candidate."""
        return self.record.verdicts

    @property
    def runs(self) -> tuple[Run, ...]:
        """One run a config, the baseline first."""
        return self.record.runs

    @property
    def doubts(self) -> tuple[Doubt, ...]:
        """Reasons not to trust it fully, each with a fix."""
        return self.record.doubts

    @property
    def agreement(self) -> tuple[OutputAgreement, ...]:
        """Each output of each candidate against the baseline's."""
        return self.record.agreement

    def add(self, found: Result, label: str = "B") -> None:
        """Keep a further result about the same model with this one: what `wb.levels`, `wb.ablate`… return.

        `label` says which run's config it is about. It takes the place of an older one of its kind and
        label, and is saved, exported and reopened with the comparison.
        """
        for part in parts_of(found, label):
            self.with_part(part)

    def made(self, kind: str, label: str | None = None) -> Any:
        """A further result that is kept with this one: `result.made("levels", "B").figure()`."""
        from workbench.results.opening import result_of_part

        record = self.part(kind, label)
        return result_of_part(next(part for part in self.parts if part.record is record))

    def to_frame(self) -> pd.DataFrame:
        """One row a run."""
        return self.record.to_frame()

    def percentiles(self) -> pd.DataFrame:
        """Latency percentiles and throughput with intervals over processes, a row each and a run."""
        import pandas as pd

        rows = []
        for run in self.runs:
            for estimate in percentiles(run):
                rows.append((run.label, f"{estimate.name}_ms", *_scaled(estimate, 1e3), estimate.note))
            rate = throughput(run)
            rows.append((run.label, "runs_per_s", rate.value, rate.low, rate.high, rate.note))
        return pd.DataFrame(rows, columns=["label", "figure", "value", "low", "high", "note"])

    def figure(self) -> go.Figure:
        """Every sample, the median and its interval, before and after."""
        return self.latency_figure()

    def latency_figure(self) -> go.Figure:
        """Every sample, the median and its interval, before and after."""
        from workbench.figures.latency import latency_figure

        return latency_figure(self.record)

    def timeline_figure(self) -> go.Figure:
        """Block medians in the order measured, so that drift and disturbance are seen."""
        from workbench.figures.timeline import timeline_figure

        return timeline_figure(self.record)

    def ecdf_figure(self) -> go.Figure:
        """The share of runs that took no longer than a given time."""
        from workbench.figures.ecdf import ecdf_figure

        return ecdf_figure(self.record)

    def still(self) -> Scene:
        """Medians with their intervals, and the verdict."""
        from workbench.figures.still import latency_scene

        return latency_scene(self.record)

    def __str__(self) -> str:
        return report(self.record)

    def __repr__(self) -> str:
        return f"<Comparison {self.record.id}: {sentence(self.record, self.verdict)}>"


def _scaled(estimate: Any, factor: float) -> tuple[float | None, float | None, float | None]:
    values = (estimate.value, estimate.low, estimate.high)
    first, second, third = (None if value is None else value * factor for value in values)
    return first, second, third
