"""Every model under every config, as notebooks hold them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from workbench.core.bundle.comparison import ComparisonRecord
from workbench.core.bundle.kinds import check_measured_runs
from workbench.core.bundle.run import labels_of
from workbench.core.config import Config
from workbench.core.errors import BundleError, ConfigError
from workbench.core.feature import Arguments, Feature
from workbench.core.form import Field, names
from workbench.core.measure.limits import Progress
from workbench.core.text import counted, did_you_mean, listed, quoted
from workbench.drawing.page.document import Document
from workbench.drawing.page.pieces import facts, paragraph
from workbench.features.accuracy.result import AccuracyTable
from workbench.features.compare.result import Comparison
from workbench.features.grid.best import BestLimits, Contender, contenders_of, missing
from workbench.features.grid.matrix import MatrixRecord
from workbench.features.grid.several import SeveralComparisons


class Matrix(SeveralComparisons):
    """Every model under every config. Made by `wb.matrix`.

    >>> import workbench as wb
    >>> wb.Matrix.__name__
    'Matrix'
    """

    record: MatrixRecord

    @property
    def subject(self) -> str:
        """How many models it is about."""
        return counted(len(self.record.rows), "model")

    def comparison(self, model: str) -> Comparison:
        """Return the comparison of the configs of one model, with every sample."""
        rows = {row.model: row for row in self.record.rows}
        if model not in rows:
            raise ConfigError(f"there is no model {model!r}", f"the models are: {listed(rows)}")
        measured = rows[model].measured
        if measured is None or len(measured.runs) < 2:
            why = rows[model].problem or "it has one config"
            raise ConfigError(f"{model!r} has no comparison: {why}", "see to_frame()")
        return Comparison(measured)

    def sorted_by(self, label: str) -> Matrix:
        """Return the matrix with the rows ordered by the speed-up under one config, the largest first."""
        if label not in self.record.labels:
            raise ConfigError(
                f"there is no config {label!r}", f"the configs are: {listed(self.record.labels)}"
            )
        ordered = Matrix(self.record.sorted_by(label), self.about, parts=self.parts)
        return ordered.of_models(self._models, self._calibrations)

    def accuracy(
        self,
        data: Mapping[str, Any] | None = None,
        *,
        progress: bool | Callable[[Progress], None] = True,
        cancel: threading.Event | None = None,
        **options: Any,
    ) -> dict[str, AccuracyTable]:
        """Measure the accuracy of every config of each model, and keep it with the matrix.

        `data` holds what `wb.accuracy` takes, by the name of the model; models without any take their own
        evaluation set, or random inputs. `options` (metric, output, most, batch) are those of `wb.accuracy`.
        """
        given = data or {}
        check_names("data", given, [row.model for row in self.record.rows])
        return {
            name: self._measure_accuracy(name, given.get(name), progress, cancel, **options)
            for name, _ in self._measured()
        }

    def _measured(self) -> Iterator[tuple[str, ComparisonRecord]]:
        yield from ((row.model, row.measured) for row in self.record.rows if row.measured is not None)

    def _contenders(self, limits: BestLimits) -> Iterator[Contender]:
        for row in self.record.rows:
            if row.measured is None:
                yield missing(row.model, row.problem or "")
            else:
                yield from contenders_of(row.measured, limits, self.accuracy_of(row.model))

    def _configs(self) -> dict[str, Config]:
        return dict(zip(self.record.labels, self.record.configs, strict=True))

    def document(self) -> Document:
        """Return its page: the heat table, the cells in numbers, the doubts of each model, the origin."""
        page = Document(f"{self.subject}: matrix", paragraph(self.record.headline))
        names = [
            (label, str(cell.config))
            for label, cell in zip(self.record.labels, self.record.cells(self.record.rows[0]), strict=True)
        ]
        page.add("configs", "Configs", facts(names))
        self._add_result(page)
        return page


def check_matrix(record: MatrixRecord, fix: str) -> None:
    """Refuse a record that no matrix could have made."""
    if not record.rows or not record.configs:
        raise BundleError("rows and configs: expected one or more of each.", fix)
    labels = list(labels_of(len(record.configs)))
    for at, row in enumerate(record.rows):
        if row.measured is None:
            continue
        check_measured_runs(row.measured, fix, least=1)
        if [run.label for run in row.measured.runs] != labels:
            raise BundleError(f"rows[{at}].measured.runs: expected one for each config.", fix)


def check_names(what: str, given: Mapping[str, Any], models: Sequence[str]) -> None:
    """Refuse a name that no model has."""
    for name in given:
        if name not in models:
            raise ConfigError(
                f"{what} names the model {quoted(name)}, which is not in the matrix",
                f"{did_you_mean(str(name), models)}the models are: {listed(models)}",
            )


def call_arguments(model: Any, configs: tuple[Any, ...], options: dict[str, Any]) -> Arguments:
    """Return the arguments of `wb.matrix`: the open model first, then those of the form."""
    models = [model, *options.pop("models", ())]
    return (models, list(configs)), options


FEATURE = Feature(
    "matrix",
    MatrixRecord,
    check_matrix,
    result=Matrix,
    figure="workbench.features.grid.matrix_chart:matrix_figure",
    picture="workbench.features.grid.matrix_chart:matrix_scene",
    per="runs",
    call="workbench.features.grid.matrix_call:matrix",
    takes=("budget_s", "seed", "progress", "keep"),
    form=(
        Field(
            "models",
            "models",
            "Names of samples, paths or URLs, beside the open model",
            names,
            example="mobilenetv2, /path/to/other.onnx",
        ),
    ),
    arguments=call_arguments,
    heading="Several models under these configs",
    button="Matrix",
    hint="The open model and others under all configs: a row for each model, a column for each config",
    step="one model after another",
    tabs=("scenarios",),
)
