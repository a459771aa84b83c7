"""The search of the best config for a goal, as notebooks hold it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

from workbench.core.bundle.comparison import ComparisonRecord
from workbench.core.bundle.display import DataFrame, config_in_words, data_frame
from workbench.core.command import Command
from workbench.core.config import Config
from workbench.core.errors import WorkbenchError, warn_user
from workbench.core.feature import Feature
from workbench.core.measure.bar import bar
from workbench.core.measure.limits import Limits, ShowProgress
from workbench.core.models import Model, load
from workbench.core.prepare.real_data import inputs_from
from workbench.drawing.exportable import DrawnTable
from workbench.features.base.examining import check_same, inputs_again, missing_model
from workbench.features.base.history import History
from workbench.features.base.measured import Measured
from workbench.features.compare.result import Comparison
from workbench.features.tune.pareto import points_of, proof
from workbench.features.tune.record import StudyRecord, about_study, check_study
from workbench.features.tune.request import StudyRequest
from workbench.features.tune.study import run_study


class Study(Measured):
    """The best config for a goal, every config that was tried, and the proof. Made by `wb.tune`."""

    record: StudyRecord
    title = "the best config"
    _request: StudyRequest | None = None

    @property
    def best(self) -> Config:
        """The best config; ORT's defaults if nothing was proven better."""
        return self.record.best_config

    @property
    def comparison(self) -> Comparison | None:
        """The defaults against the winner, measured after the choice; None: the defaults won the race."""
        record = self.record.confirmation
        if record is None:
            return None
        comparison = Comparison(record, structure=self.structure)
        if (request := self._request) is not None:
            comparison.with_model(request.model, request.inputs, request.calibration)
        return comparison

    @property
    def measured(self) -> ComparisonRecord:
        """The proof, or the selection where there is none."""
        return self.record.confirmation or self.record.selection

    def proof(self) -> DrawnTable:
        """Return the winner's ratio on the rounds that selected it beside the one on fresh rounds."""
        return proof(self.record)

    def pareto(self) -> DataFrame:
        """Return the configs that no other beats in everything: the front, with the knee.

        It is that of the objectives; with one objective, also of memory, load time, file size and error. A
        ratio says how many times as good as the default a config is.
        """
        rows = []
        for point in sorted(points_of(self.record), key=lambda point: -point.first.ratio):
            if point.on_front:
                further = {f"{axis.name}_ratio": axis.ratio for axis in point.axes[1:]}
                rows.append(
                    {
                        "label": point.label,
                        "config": config_in_words(point.config),
                        "ratio": point.first.ratio,
                        "low": point.first.low,
                        "high": point.first.high,
                        **(further if self.record.further else {}),
                        "peak_rss_bytes": point.memory_bytes,
                        "load_s": point.load_s,
                        "file_bytes": point.file_bytes,
                        "error": point.error,
                        "accuracy": point.accuracy,
                        "rate_hz": point.rate,
                        "knee": point.is_knee,
                    }
                )
        return data_frame(rows)

    def config(self, label: str) -> Config:
        """Return the config of a candidate by its label."""
        return self.record.candidate(label).config

    def attach(
        self,
        model: Model | str | Path | Any,
        *,
        inputs: Any = None,
        calibration: Any = None,
        data: Any = None,
    ) -> Self:
        """Give a reopened study its model, the same one, so that `continue_` can go on."""
        loaded = load(model)
        record = self.record
        check_same(loaded, record.selection)
        fed = inputs_again(loaded, record.selection) if inputs is None else inputs_from(loaded, inputs)
        protocol = record.selection.protocol
        self._request = StudyRequest(
            model=loaded.with_inputs(fed),
            inputs=fed,
            space=record.space,
            base=record.candidates[0].config,
            objective=record.objective,
            further=record.further,
            callers=record.callers,
            goal=record.goal,
            smallest_effect=protocol.smallest_effect,
            pacing_s=protocol.pacing_s,
            tolerance=protocol.tolerance,
            calibration=calibration,
            data=data,
            seed=protocol.seed,
        )
        return self

    def continue_(
        self,
        budget_s: float = 300.0,
        *,
        progress: ShowProgress = True,
        cancel: threading.Event | None = None,
        worker_limits: Limits | None = None,
        keep: bool = True,
    ) -> Self:
        """Search on with the earlier rounds kept, also after a kill; return the whole study.

        A reopened study needs its model (`attach`), the same machine and the same versions.
        """
        if self._request is None:
            raise missing_model("the search cannot go on: the model is not at hand", "continue_()")
        request = replace(
            self._request,
            budget_s=budget_s,
            earlier=self.record,
            limits=worker_limits or self._request.limits,
        )
        return type(self).searched(request, progress=progress, cancel=cancel, keep=keep)

    @classmethod
    def searched(
        cls,
        request: StudyRequest,
        *,
        progress: ShowProgress = True,
        cancel: threading.Event | None = None,
        keep: bool = True,
        on_round: Callable[[Study], None] = lambda _: None,
    ) -> Self:
        """Run the search; with `keep` its rounds are in the history when measured."""
        structure = request.model.structure.SerializeToString()

        def store(record: StudyRecord) -> None:
            if keep:
                _store(record, structure)

        def report(record: StudyRecord) -> None:
            store(record)
            on_round(cls(record, structure=structure))

        with bar(progress) as on_progress:
            record = run_study(request, on_progress=on_progress, on_measured=report, cancel=cancel)
        store(record)
        study = cls(record, structure=structure)
        study._request = replace(request, space=record.space)
        return study

    @property
    def optuna(self) -> Any:
        """The study in Optuna's storage, a trial for each candidate; its plots and dashboard work on it."""
        from workbench.features.tune.optuna_trials import optuna_study

        return optuna_study(self.record)

    def to_python(self, model: Any = "model.onnx") -> str:
        """Return plain ONNX Runtime code that runs the best config."""
        return self.best.to_python(model, inputs=self.about.inputs)


def _store(record: StudyRecord, structure: bytes) -> None:
    """Keep the study so far in the history; a history that cannot be written gives a warning."""
    try:
        history = History()
        if not history.update(record, structure):
            history.add(record, structure)
    except WorkbenchError as error:
        warn_user(f"not added to the history: {error}")


FEATURE = Feature(
    "study",
    StudyRecord,
    check_study,
    about_study,
    result=Study,
    chart="workbench.features.tune.chart:study_chart",
    figure="workbench.features.tune.chart:study_figure",
    per="runs",
    call="workbench.features.tune.call:tune",
    command=Command(
        call="workbench.features.tune.call:tune_within",
        names={"base": "a"},
        hints={
            "objective": "what to improve; several: a front",
            "callers": "at once, for throughput",
            "without": "a setting that is not varied",
            "cluster": "search on a machine of the Dask scheduler at this address",
            "target": "with --cluster: on a worker with this tag",
        },
        text=lambda study: f"{study}\nconfig: {study.best!r}",
    ),
)
