"""What each pass is worth."""

from __future__ import annotations

from workbench.core.bundle.kinds import about_comparison
from workbench.core.feature import Feature
from workbench.features.base.measured import Measured
from workbench.features.explain.record_checks import check_measured
from workbench.features.variants.ablation import AblationRecord


class Ablation(Measured):
    """What each pass is worth on this machine. Made by `wb.ablate`.

    >>> import workbench as wb
    >>> wb.Ablation.__name__
    'Ablation'
    """

    record: AblationRecord
    title = "what each pass is worth"


FEATURE = Feature(
    "ablation",
    AblationRecord,
    check_measured,
    lambda record: about_comparison(record.comparison),
    result=Ablation,
    chart="workbench.features.variants.chart:ablation_chart",
    call="workbench.features.explain.calls:ablate",
    fact="ablation",
    takes=("inputs", "budget_s", "calibration", "progress", "keep"),
    heading="What each pass is worth",
    button="Ablate",
    hint="Turn off each pass that fired, alone, and measure what it is worth; for the config shown",
    step="which passes fire",
    tabs=("fusions",),
)
