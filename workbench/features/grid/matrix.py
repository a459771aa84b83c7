"""Every model under every config, each cell judged against the first config of its model."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from workbench.core.bundle.comparison import Verdict
from workbench.core.bundle.display import DataFrame, config_in_words
from workbench.core.bundle.estimate import Estimate
from workbench.core.command import Command
from workbench.core.errors import ConfigError
from workbench.core.feature import Arguments, Feature
from workbench.core.form import Field, names
from workbench.core.measure.limits import ShowProgress
from workbench.core.measure.wording import speed_or_kind
from workbench.core.models.samples import card, sample_names
from workbench.core.text import counted, did_you_mean, listed, one_line, quoted, shorten
from workbench.drawing.chart import Axis, Chart, ReferenceLine, one_value, series_look, value_of
from workbench.drawing.exportable import DrawnTable
from workbench.features.accuracy.record import AccuracyRecord, Paired
from workbench.features.accuracy.result import AccuracyTable
from workbench.features.compare.result import Comparison
from workbench.features.grid.record import GridRecord, Place, check_grid, gates_of_grid, grid_frame
from workbench.features.grid.result import Grid


@dataclass(frozen=True, slots=True)
class PrecisionRow:
    """One model under one config, against its first config."""

    model: str
    config: str
    verdict: Verdict
    accuracy: Paired | None  # None: not evaluated

    @property
    def change(self) -> Estimate:
        """The change of the accuracy, as a share."""
        return Estimate.of(self.accuracy)

    def speed(self) -> str:
        """Return the verdict in words."""
        return speed_or_kind(self.verdict)

    def points(self) -> str:
        """Return the change of the accuracy in points."""
        return self.change.times(100).words("+.2f", " points") or "accuracy not measured"


class SpeedAndAccuracy(DrawnTable):
    """Speed and accuracy of each model and config. Made by `Matrix.speed_and_accuracy`."""

    def __init__(self, rows: tuple[PrecisionRow, ...]) -> None:
        self.rows = rows
        configs = list(dict.fromkeys(row.config for row in rows))
        drawn = []
        for row in rows:
            look = series_look(configs.index(row.config), row.config)
            speed = value_of(Estimate.of(row.verdict), row.speed(), look)
            points = value_of(row.change.times(100), row.points(), look)
            drawn.append(one_value(f"{row.model}, {row.config}", speed, points))
        axes = (
            Axis("times as fast as float32", "dot", (ReferenceLine(1.0),)),
            Axis("accuracy against float32 (points)", "dot", (ReferenceLine(0.0),)),
        )
        chart = Chart(("Speed and accuracy of each precision",), axes, tuple(drawn), columns=2)
        numbers = ("ratio", "low", "high", "accuracy_change", "change_low", "change_high")
        table = (
            (row.model, row.config, row.verdict.kind, *Estimate.of(row.verdict).ends, *row.change.ends)
            for row in rows
        )
        lines = (f"{row.model}, {row.config}: {row.speed()}, {row.points()}" for row in rows)
        sentence = "\n".join(lines) or "Nothing was measured."
        super().__init__(sentence, chart, ("model", "config", "verdict", *numbers), table, numbers)


def precision_rows(
    matrix: GridRecord, accuracies: dict[str, AccuracyRecord | None]
) -> Iterator[PrecisionRow]:
    """Yield each verdict of a matrix beside the accuracy of the same config of the same model."""
    for row in matrix.places:
        if row.measured is None:
            continue
        configs = {run.label: config_in_words(run.config) for run in row.measured.runs}
        record = accuracies.get(row.model)
        for verdict in row.measured.verdicts:
            score = None if record is None else record.score(verdict.label)
            gap = None if score is None else score.against
            yield PrecisionRow(row.model, configs[verdict.label], verdict, gap)


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

    def to_frame(self) -> DataFrame:
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
        progress: ShowProgress = True,
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


def _others(model: Any) -> str:
    """Return two other samples of the family of the open model; of none, how else a model is named."""
    family = None if model is None else model.describe().family
    alike = [name for name in sample_names() if card(name).family == family and name != model.name]
    return ", ".join(alike[:2]) or "mobilenetv2, /path/to/other.onnx"


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
            example=_others,
            before="Beside the open model, run",
        ),
    ),
    arguments=call_arguments,
    heading="Several models under these configs",
    button="Matrix",
    hint="The open model and others under all configs: a row for each model, a column for each config",
    step="one model after another",
    tabs=("Explore",),
    gates=gates_of_grid,
    keeps_accuracy=True,
    command=Command(
        example="bert-base mobilenetv2 --b level=basic --c intra_op_threads=1 -o all.ortbench",
        call="workbench.features.grid.calls:sorted_matrix",
        hints={
            "models": "samples' names, paths or URLs",
            "inputs": "inputs of every model, an array for each input's name",
            "file": "the bundle, written after each model; called again, it goes on",
            "sort": "order the models by the speed-up of the config with this letter",
            "seed": "seed of random inputs and of the order of measuring",
            "budget_s": "seconds that all models may take",
        },
    ),
)
