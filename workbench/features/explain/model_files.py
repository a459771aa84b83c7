"""What differs between the model's file and the one that a run loads."""

from __future__ import annotations

from workbench.core.feature import Feature
from workbench.features.base.result import Result
from workbench.features.explain.file_difference import FileDifference, check_files


class ModelFiles(Result):
    """What differs between two model files: nodes by operator, weights. Made by `result.files()`."""

    record: FileDifference


FEATURE = Feature(
    "model files", FileDifference, check_files, result=ModelFiles,
    chart="workbench.features.explain.charts:files_chart", per="run",
    heading="What differs between the model files",
)  # fmt: skip
