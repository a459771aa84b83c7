"""A config that was improved fix by fix, as notebooks hold it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbench.core.config import Config
from workbench.core.feature import Feature
from workbench.core.form import Field, percent
from workbench.features.base.result import Result
from workbench.features.compare.result import Comparison
from workbench.features.findings.improvement_record import ImprovementRecord, ImprovementStep

if TYPE_CHECKING:
    import plotly.graph_objects as go


class Improvement(Result):
    """The steps from a config to a better one, and the final comparison. Made by `wb.improve`.

    >>> import workbench as wb
    >>> wb.Improvement.__name__
    'Improvement'
    """

    record: ImprovementRecord

    @property
    def steps(self) -> tuple[ImprovementStep, ...]:
        """Every fix that was tried, in order."""
        return self.record.steps

    @property
    def config(self) -> Config:
        """The config at the end; the first one where nothing helped."""
        return self.record.config

    @property
    def comparison(self) -> Comparison | None:
        """The first config against the last one, measured after the choice; None: nothing was kept."""
        record = self.record.comparison
        return None if record is None else Comparison(record, structure=self.structure)

    def to_python(self, model: Any = "model.onnx") -> str:
        """Return plain ONNX Runtime code that runs the final config."""
        return self.config.to_python(model, inputs=self.about.inputs)

    def figure(self) -> go.Figure | None:
        """Draw the speed-ups; return None where nothing was tried."""
        return super().figure() if self.steps else None


FEATURE = Feature(
    "improvement",
    ImprovementRecord,
    result=Improvement,
    chart="workbench.features.findings.chart:improvement_chart",
    call="workbench.features.findings.calls:improve",
    takes=("inputs", "data", "calibration", "progress", "keep", "on_step"),
    form=(
        Field(
            "max_accuracy_drop",
            "may lose (points)",
            "Try int8 and 16-bit floats, too, if the accuracy drops by at most so many points of 100; needs "
            "examples with labels. Empty: the arithmetic stays as it is",
            percent,
            "",
            "1",
        ),
        Field("budget_s", "may take (s)", "The seconds that the trying may take", float, "", "180"),
    ),
    heading="What was tried",
    button="Try all",
    hint="Try the findings one after the other, keep what was measured better, look again",
    step="trying the largest finding first",
    tabs=("Improve",),
)
