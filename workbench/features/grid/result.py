"""A result that holds comparisons of the same configs at several places."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Self

from workbench.core.bundle.comparison import ComparisonRecord
from workbench.core.bundle.goal import Goal
from workbench.core.bundle.kinds import Part
from workbench.core.config import Config
from workbench.core.errors import ConfigError, WorkbenchError
from workbench.core.measure.bar import bar
from workbench.core.measure.limits import ShowProgress
from workbench.core.models import Model
from workbench.core.text import listed, shorten
from workbench.drawing.page.document import Document
from workbench.drawing.page.pieces import facts, figured, paragraph
from workbench.features.accuracy.accuracy import accuracy
from workbench.features.accuracy.record import AccuracyRecord
from workbench.features.accuracy.result import AccuracyTable
from workbench.features.base.result import Result, origin_of
from workbench.features.compare.best import ConfigChoice, Contender, contenders_of, missing
from workbench.features.compare.result import Comparison
from workbench.features.grid.record import GridRecord, Place


class Grid(ConfigChoice, Result):
    """Configs at several places, which keeps the accuracy of these configs by model."""

    record: GridRecord
    _models: Mapping[str, Model] = {}
    _calibrations: Mapping[str, Any] = {}

    def _measured(self) -> Iterator[tuple[str, ComparisonRecord]]:
        """Yield the name and the comparison of what was measured."""
        for place in self.record.places:
            if place.measured is not None:
                yield self.record.name_of(place), place.measured

    def _contenders(self, limits: Goal) -> Iterator[Contender]:
        for place in self.record.places:
            where = "" if self.record.name_of(place) == place.model else place.size
            if place.measured is None:
                yield missing(place.model, place.problem or "", place=where)
            else:
                yield from contenders_of(
                    place.measured, limits, self.accuracy_of(place.model),
                    group=place.model, place=where, items=place.items,
                )  # fmt: skip

    def _configs(self) -> dict[str, Config]:
        """Return the configs by label."""
        return dict(zip(self.record.labels, self.record.configs, strict=True))

    def _summary(self) -> str:
        return str(self)

    def _comparison(self, place: Place) -> Comparison | ComparisonRecord:
        """Return what was measured at a place; of a lone config its record."""
        if place.measured is None:
            raise ConfigError(
                f"nothing was measured at {self.record.name_of(place)}: {place.problem}", "measure it again"
            )
        if len(place.measured.runs) < 2:
            return place.measured
        return Comparison(place.measured, structure=self.structure)

    def document(self) -> Document:
        """Return its page: the answer, configs, figure and table, the doubts of each place, the origin."""
        page = Document(
            f"{self.subject}: {type(self).__name__.lower()}",
            "".join(map(paragraph, self._summary().splitlines())),
        )
        names = zip(self.record.labels, (series.name for series in self.record.series), strict=True)
        page.add("configs", "Configs", facts([*names]))
        page.add("result", "Result", figured(self))
        doubts = [
            (name, f"{doubt.kind}: {doubt.evidence}. Fix: {doubt.fix}")
            for name, measured in self._measured()
            for doubt in measured.doubts
        ]
        doubted = facts(doubts) if doubts else paragraph("No reason to doubt it was found.")
        page.add("doubts", "Doubts", doubted)
        self._add_origin(page)
        return page

    def of_models(self, models: Mapping[str, Model], calibrations: Mapping[str, Any]) -> Self:
        """Give the result its models by name, so that their accuracy can be measured."""
        self._models, self._calibrations = models, calibrations
        return self

    def accuracy_of(self, model: str) -> AccuracyRecord | None:
        """Return the accuracy that is kept of a model; None where none was measured."""
        kept = (part.record for part in self.parts if part.kind == "accuracy")
        return next((record for record in kept if record.model_name == model), None)

    def _measure_accuracy(
        self,
        name: str,
        data: Any,
        progress: ShowProgress,
        cancel: threading.Event | None,
        **options: Any,
    ) -> AccuracyTable:
        """Evaluate the configs on a model, and keep the table."""
        if name not in self._models:
            raise WorkbenchError(
                f"the accuracy of {shorten(name)} cannot be measured: the model is not at hand",
                "measure it before the result is saved, or with wb.accuracy(model, *configs)",
            )
        model, configs = self._models[name], self._configs()
        with bar(progress) as on_progress:
            record = accuracy(
                model, list(configs.values()), data=data, calibration=self._calibrations.get(name),
                labels=list(configs), cancel=cancel, on_progress=on_progress, **options,
            )  # fmt: skip
        record = replace(record, model_name=name)  # two models of one name have names of their own here
        table = AccuracyTable(record, origin_of(model, next(iter(configs.values()))))
        others = [part for part in self.parts if part.record.model_name != name]
        taken = {part.name for part in others}
        names = ("accuracy", *(f"accuracy/{number}" for number in range(2, len(others) + 2)))
        part = Part(next(name for name in names if name not in taken), record, table.about)
        self.parts = (*others, part)
        self._update_history()
        return table

    def to_python(self, label: str = "A", model: Any = "model.onnx") -> str:
        """Return plain ONNX Runtime code that runs one of the configs."""
        configs = self._configs()
        if label not in configs:
            raise ConfigError(f"there is no config {label!r}", f"the configs are: {listed(configs)}")
        inputs = {measured.inputs for _, measured in self._measured()}
        return configs[label].to_python(model, inputs=inputs.pop() if len(inputs) == 1 else None)
