"""Results that hold several comparisons: the points of a sweep, the rows of a matrix."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Self

from workbench.core.bundle.comparison import ComparisonRecord
from workbench.core.bundle.kinds import Part
from workbench.core.config import Config
from workbench.core.errors import ConfigError, WorkbenchError
from workbench.core.measure.bar import bar
from workbench.core.measure.limits import Progress
from workbench.core.models import Model
from workbench.core.text import listed, shorten
from workbench.drawing.page.document import Document
from workbench.drawing.page.pieces import facts, figured, paragraph
from workbench.features.accuracy.accuracy import accuracy
from workbench.features.accuracy.record import AccuracyRecord
from workbench.features.accuracy.result import AccuracyTable
from workbench.features.base.result import Result, origin_of
from workbench.features.grid.best import Best, BestLimits, Contender


class ConfigChoice:
    """A result that holds measured configs to choose from."""

    def _contenders(self, limits: BestLimits) -> Iterable[Contender]:
        """Return every config, as far as it keeps the limits."""
        raise NotImplementedError

    def best(
        self,
        *,
        max_p50_s: float | None = None,
        max_p99_s: float | None = None,
        max_memory_bytes: int | None = None,
        max_accuracy_drop: float | None = None,
    ) -> Best:
        """Return what is best within these limits: yes, no, or not settled.

        Of a comparison: its fastest config. Of a matrix: that of each model. Of a sweep: the point with
        most items a second.
        `max_accuracy_drop` is judged by what `accuracy()` kept: 0.01 is one point below the baseline's.
        """
        limits = BestLimits(max_p50_s, max_p99_s, max_memory_bytes, max_accuracy_drop)
        return Best(tuple(self._contenders(limits)))


class SeveralComparisons(ConfigChoice, Result):
    """Several comparisons of the same configs, which keep the accuracy of these configs by model."""

    _models: Mapping[str, Model] = {}
    _calibrations: Mapping[str, Any] = {}

    def _measured(self) -> Iterator[tuple[str, ComparisonRecord]]:
        """Yield the name and the comparison of what was measured."""
        raise NotImplementedError

    def _configs(self) -> Mapping[str, Config]:
        """Return the configs by label."""
        raise NotImplementedError

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
        progress: bool | Callable[[Progress], None],
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

    def _add_result(self, page: Document) -> None:
        """Add figure and table, the doubts of each comparison, and the origin."""
        page.add("result", "Result", figured(self))
        doubts = [
            (name, f"{doubt.kind}: {doubt.evidence}. Fix: {doubt.fix}")
            for name, measured in self._measured()
            for doubt in measured.doubts
        ]
        page.add(
            "doubts", "Doubts", facts(doubts) if doubts else paragraph("No reason to doubt it was found.")
        )
        self._add_origin(page)
