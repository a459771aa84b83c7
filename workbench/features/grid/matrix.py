"""Every model under every config, each cell judged against the first config of its model."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from workbench.core.errors import ConfigError
from workbench.core.feature import Arguments, Feature
from workbench.core.form import Field, names
from workbench.core.measure.limits import Progress
from workbench.core.text import counted, did_you_mean, listed, one_line, quoted, shorten
from workbench.features.accuracy.result import AccuracyTable
from workbench.features.compare.result import Comparison
from workbench.features.grid.record import GridRecord, Place, check_grid, grid_frame
from workbench.features.grid.result import Grid
from workbench.features.grid.speed_and_accuracy import SpeedAndAccuracy, precision_rows

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class MatrixRecord(GridRecord):
    """All models under all configs. The configs of a model are compared; models are not."""

    def name_of(self, place: Place) -> str:
        """Return the name of the model."""
        return place.model

    def sorted_by(self, label: str) -> MatrixRecord:
        """Return the matrix with the rows ordered by the speed-up under one config, the largest first."""
        index = self.labels.index(label)

        def gain(row: Place) -> tuple[bool, float]:
            cell = self.cells(row)[index]
            if index == 0:
                return cell.run is not None, -((cell.run and cell.run.latency.median_s) or 0.0)
            verdict = cell.verdict
            return (False, 0.0) if verdict is None else (verdict.is_settled, verdict.bound or 0.0)

        return replace(self, places=tuple(sorted(self.places, key=gain, reverse=True)))

    @property
    def headline(self) -> str:
        """Return what was measured, and how often each config wins."""
        size = f"{counted(len(self.places), 'model')} under {counted(len(self.configs), 'config')}"
        if len(self.configs) < 2:
            failed = sum(row.measured is None for row in self.places)
            return f"{size}{f'; {failed} not measured' if failed else ''}"
        standings = [winner for _, winner in self.winners()]
        wins = {
            label: sum(w.standing == "clear" and w.label == label for w in standings) for label in self.labels
        }
        parts = [f"{label} wins {counted(count, 'time')}" for label, count in wins.items() if count]
        for standing in ("tie", "not settled", "not measured"):
            if count := sum(winner.standing == standing for winner in standings):
                parts.append(f"{standing}: {count}")
        return f"{size}; {', '.join(parts)}"

    def to_frame(self) -> pd.DataFrame:
        """Return one row per cell: latency, throughput, memory, load, verdict, and why a cell is empty."""
        return grid_frame(
            [
                {
                    "model": cell.place.model,
                    "label": cell.label,
                    "config": cell.series.name,
                    **cell.latency_cells(),
                    "runs_per_s": cell.rate().value,
                    "load_s": None if cell.run is None else cell.run.load_s,
                    "peak_rss_bytes": None if cell.run is None else cell.run.peak_rss_bytes,
                    **cell.verdict_cells(),
                    "failure": cell.problem,
                }
                for cell in self.all_cells()
            ]
        )

    def __str__(self) -> str:
        lines = [self.headline]
        for row in self.places:
            cells = ", ".join(f"{cell.label} {cell.text}" for cell in self.cells(row))
            text = one_line(row.problem or "") if row.measured is None else cells
            lines.append(f"  {shorten(row.model)}: {text}")
        return "\n".join(lines)


class Matrix(Grid):
    """Every model under every config. Made by `wb.matrix`."""

    record: MatrixRecord

    @property
    def subject(self) -> str:
        """How many models it is about."""
        return counted(len(self.record.places), "model")

    def comparison(self, model: str) -> Comparison:
        """Return the comparison of the configs of one model, with every sample."""
        rows = {row.model: row for row in self.record.places}
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
        check_names("data", given, [row.model for row in self.record.places])
        return {
            name: self._measure_accuracy(name, given.get(name), progress, cancel, **options)
            for name, _ in self._measured()
        }

    def speed_and_accuracy(self, *tables: AccuracyTable) -> SpeedAndAccuracy:
        """Set the verdicts beside the accuracies of the same configs, in the same order.

        Without `tables` these are the accuracies that are kept with the matrix.
        """
        given = {table.record.model_name: table.record for table in tables}
        kept = {row.model: given.get(row.model) or self.accuracy_of(row.model) for row in self.record.places}
        return SpeedAndAccuracy(tuple(precision_rows(self.record, kept)))

    def _summary(self) -> str:
        return self.record.headline


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
    check_grid,
    result=Matrix,
    figure="workbench.features.grid.chart:matrix_figure",
    picture="workbench.features.grid.chart:matrix_scene",
    per="runs",
    call="workbench.features.grid.calls:matrix",
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
    tabs=("Explore",),
)
