"""The ranges of static int8: the examples that they were measured on, and outliers."""

from __future__ import annotations

from workbench.core.config import StaticInt8
from workbench.core.text import counted
from workbench.features.findings.evidence import Evidence
from workbench.features.findings.finding import FindingRecords, Forecast, finding
from workbench.features.findings.record import Fix
from workbench.features.findings.rule import precision_fix, rule

FEW_EXAMPLES = 100  # of calibration, as in preparation
OUTLIER_RATIO = 8.0  # the largest value over the 99.9th percentile: 3 of 8 bits serve a thousandth of them
CALIBRATE = "wb.compare(model, a, b, calibration='examples.npz')"


@rule(
    "random-calibration",
    needs=("preparation",),
    recognised="static int8 measured its ranges on random data",
    advice="give real examples: calibration=…",
    source="ranges of random data are not those of real inputs, in either direction",
)
def random_calibration(evidence: Evidence) -> FindingRecords:
    """Static int8 was calibrated on random data."""
    record = None if evidence.preparation is None else evidence.preparation.calibration
    if record is None or record.representative:
        return
    yield finding(
        "The ranges of static int8 were measured on random data",
        f"{counted(record.count, 'example')}, {record.source}",
        forecast=Forecast.unknown("accuracy", "sure"),
        fix=Fix("note", "give real examples, about a hundred: calibration=…", code=CALIBRATE),
    )


@rule(
    "few-calibration-examples",
    needs=("preparation",),
    recognised=f"static int8 measured its ranges on fewer than {FEW_EXAMPLES} real examples",
    advice="give a hundred examples or more",
    source="ORT's documentation and users' reports: ranges settle between 100 and 500 examples",
)
def few_calibration_examples(evidence: Evidence) -> FindingRecords:
    """Static int8 was calibrated on few examples."""
    record = None if evidence.preparation is None else evidence.preparation.calibration
    if record is None or not record.representative or record.count >= FEW_EXAMPLES:
        return
    yield finding(
        f"The ranges of static int8 come from {counted(record.count, 'example')}",
        record.source,
        forecast=Forecast.unknown("accuracy", "maybe"),
        fix=Fix("note", "give a hundred examples or more: calibration=…", code=CALIBRATE),
        caution="a few that are typical may do; the error of each layer tells",
    )


@rule(
    "outliers-set-the-range",
    needs=("layers",),
    recognised="the largest value of an activation is 8 times its 99.9th percentile or more",
    advice="let a percentile set the ranges: calibrator='percentile', or keep the layers in float",
    source="3 of 8 bits then serve one value in a thousand",
)
def outliers_set_the_range(evidence: Evidence) -> FindingRecords:
    """A few outliers set the range of activations."""
    layers, precision = evidence.layers, evidence.config.precision
    if layers is None or not isinstance(precision, StaticInt8) or precision.calibrator != "minmax":
        return
    wide = [tensor for tensor in layers.tensors if (tensor.outlier_ratio or 0.0) >= OUTLIER_RATIO]
    wide = [tensor for tensor in wide if tensor.rounding_db is not None]
    if not wide:
        return
    worst = max(wide, key=lambda tensor: tensor.outlier_ratio or 0.0)
    yield finding(
        f"Outliers set the range of {counted(len(wide), 'activation')}",
        f"of {worst.tensor[:60]} it is {worst.outlier_ratio:.0f} times the 99.9th percentile",
        forecast=Forecast.unknown("accuracy", "likely", [tensor.node for tensor in wide if tensor.node]),
        fix=precision_fix(
            evidence, "let a percentile set the ranges: calibrator='percentile'", calibrator="percentile"
        ),
        caution="where the outliers matter, cutting them costs more than it gains",
    )
