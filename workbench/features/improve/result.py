"""A config that was improved within limits, as notebooks hold it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbench.core.config import Config
from workbench.core.feature import Feature
from workbench.features.base.result import Result
from workbench.features.compare.result import Comparison
from workbench.features.improve.form import FORM, arguments_of
from workbench.features.improve.record import ImprovementRecord, ImprovementStep, check_improvement

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from workbench.features.tune.result import Study


class Improvement(Result):
    """The steps from a config to a better one, and the final comparison. Made by `wb.improve`."""

    record: ImprovementRecord

    @property
    def steps(self) -> tuple[ImprovementStep, ...]:
        """Every fix that was tried, in order."""
        return self.record.steps

    @property
    def search(self) -> Study | None:
        """The search around what the fixes gave, with its table and its front; None: nothing was searched."""
        from workbench.features.tune.result import Study

        return None if self.record.search is None else Study(self.record.search, structure=self.structure)

    @property
    def config(self) -> Config:
        """The proven config; the first one where nothing helped."""
        return self.record.config

    @property
    def comparison(self) -> Comparison | None:
        """The first config against the proven one, measured after the choice; None: nothing is proven."""
        record = self.record.comparison
        return None if record is None else Comparison(record, structure=self.structure)

    def to_python(self, model: Any = "model.onnx") -> str:
        """Return plain ONNX Runtime code that runs the final config."""
        return self.config.to_python(model, inputs=self.about.inputs)

    def figure(self) -> go.Figure | None:
        """Draw the speed-ups; return None where nothing was tried."""
        return super().figure() if self.record.trials else None


FEATURE = Feature(
    "improvement",
    ImprovementRecord,
    check_improvement,
    result=Improvement,
    chart="workbench.features.improve.chart:improvement_chart",
    per="baseline",
    call="workbench.features.improve.call:improve",
    takes=("inputs", "data", "calibration", "progress", "keep", "on_step"),
    form=FORM,
    arguments=arguments_of,
    says_stopped=True,
    heading="What was tried",
    button="Improve",
    hint="Try what the findings propose, search around what was better, prove the answer",
    step="trying the largest finding first",
    tabs=("Improve",),
)
