"""What differs between the model's file and the one that a run loads."""

from __future__ import annotations

from workbench.analysis.difference.files import FileDifference, check_files
from workbench.results.registry import ResultKind
from workbench.results.result import Result


class ModelFiles(Result):
    """What differs between two model files: nodes by operator, weights. Made by `result.files()`.

    >>> import workbench as wb
    >>> wb.ModelFiles.__name__
    'ModelFiles'
    """

    record: FileDifference
    charted_by = "workbench.figures.operators:files_chart"


KIND = ResultKind(
    "model files", FileDifference, check_files, result=ModelFiles, scope="run",
    heading="What differs between the model files",
)  # fmt: skip
