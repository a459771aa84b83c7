"""ORT's levels side by side."""

from __future__ import annotations

from workbench.core.bundle.kinds import about_comparison
from workbench.core.feature import Feature
from workbench.features.base.measured import Measured
from workbench.features.explain.record_checks import check_measured
from workbench.features.variants.levels import LevelsRecord


class Levels(Measured):
    """ORT's five levels side by side. Made by `wb.levels`.

    >>> import workbench as wb
    >>> wb.Levels.__name__
    'Levels'
    """

    record: LevelsRecord
    title = "ONNX Runtime's levels side by side"


FEATURE = Feature(
    "levels",
    LevelsRecord,
    check_measured,
    lambda record: about_comparison(record.comparison),
    result=Levels,
    chart="workbench.features.variants.chart:levels_chart",
    call="workbench.features.explain.calls:levels",
    takes=("inputs", "budget_s", "calibration", "progress", "keep"),
    heading="ONNX Runtime's levels side by side",
    button="Level by level",
    hint="ORT's five levels side by side, the rest as in the config that is shown",
    step="the graph at each level",
    tabs=("fusions",),
)
