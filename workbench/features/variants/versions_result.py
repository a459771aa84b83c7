"""Versions of ONNX Runtime side by side."""

from __future__ import annotations

from typing import Any

from workbench.core.bundle.kinds import about_comparison
from workbench.core.feature import Arguments, Feature
from workbench.core.form import Field, names
from workbench.core.measure.wording import headline
from workbench.features.base.measured import Measured
from workbench.features.variants.versions import VersionsRecord, check_versions


class Versions(Measured):
    """One model on several versions of ONNX Runtime. Made by `wb.compare_versions`.

    >>> import workbench as wb
    >>> wb.Versions.__name__
    'Versions'
    """

    record: VersionsRecord
    title = "versions of ONNX Runtime side by side"

    def _in_words(self) -> str:
        verdicts = (headline(verdict) for verdict in self.record.comparison.verdicts)
        return "\n".join([str(self.record), *verdicts])


def call_arguments(model: Any, configs: tuple[Any, ...], options: dict[str, Any]) -> Arguments:
    """Return the arguments of `wb.compare_versions`: this environment first, then those of the form."""
    return (model, [None, *options.pop("environments", ())], *configs), options


FEATURE = Feature(
    "versions",
    VersionsRecord,
    check_versions,
    lambda record: about_comparison(record.comparison),
    result=Versions,
    chart="workbench.features.variants.chart:versions_chart",
    call="workbench.features.variants.versions_call:compare_versions",
    takes=("inputs", "budget_s", "calibration", "progress", "keep"),
    form=(
        Field(
            "environments",
            "environments",
            "Interpreters or virtual environments with ONNX Runtime 1.16 or newer, beside this one",
            names,
            example="~/ort117, ~/ort122/bin/python",
            required=True,
        ),
    ),
    arguments=call_arguments,
    heading="Versions of ONNX Runtime side by side",
    button="Versions",
    hint="The config shown on other versions of ONNX Runtime: passes, nodes, placement, time, outputs",
    step="one version after another",
    tabs=("scenarios",),
)
