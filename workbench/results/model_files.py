"""What differs between the model's file and the one that a run loads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.analysis.difference.files import FileDifference, check_files
from workbench.results.registry import ResultKind
from workbench.results.result import Result

if TYPE_CHECKING:
    from workbench.figures.chart import Chart


class ModelFiles(Result):
    """What differs between two model files: nodes by operator, weights. Made by `result.files()`.

    >>> import workbench as wb
    >>> wb.ModelFiles.__name__
    'ModelFiles'
    """

    record: FileDifference

    def chart(self) -> Chart:
        """Return the nodes of both files: all, and those of each operator that differs."""
        from workbench.figures.model_files import files_chart

        return files_chart(self.record)

    def __str__(self) -> str:
        return str(self.record)


KIND = ResultKind(
    "model files", FileDifference, check_files, None, result=ModelFiles, scope="run",
    heading="What differs between the model files",
)  # fmt: skip
