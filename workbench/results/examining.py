"""Make the missing parts of a comparison: what ORT did under each config, where its time and memory go."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from workbench.analysis import explanation
from workbench.analysis.cold_start import cold_start
from workbench.analysis.memory.by_node import MEMORY_BUDGET_S, memory_as_asked
from workbench.analysis.profile.running import Execution, can_be_saved, profile_execution
from workbench.analysis.profile.saved import profile_of, record_of
from workbench.analysis.roofline.node_limits import roofline
from workbench.analysis.roofline.peaks import PeakRow, measure_peaks
from workbench.config.config import usable_cores
from workbench.errors import ConfigError, ModelError
from workbench.models import Inputs, Model
from workbench.models.declared import declared_inputs
from workbench.models.sizes import free_dims
from workbench.preparation.feeds import cast_feeds
from workbench.preparation.inputs import real_inputs
from workbench.preparation.preparing import prepare
from workbench.records.comparison import ComparisonRecord
from workbench.records.kinds import Part
from workbench.records.run import Run
from workbench.results.origin import origin_of
from workbench.worker.values import Feed

Examination = Literal["explanation", "profile", "cold start", "memory", "roofline"]
ALL: tuple[Examination, ...] = get_args(Examination)
_FROM_PROFILE = ("memory", "roofline")


@dataclass(slots=True)
class Examiner:
    """The model at hand, and what is asked of it."""

    model: Model
    inputs: Inputs
    calibration: Any = None
    cancel: threading.Event | None = None
    on_step: Callable[[str], None] | None = None
    _peaks: dict[int, PeakRow] = field(default_factory=dict)

    def parts(self, run: Run, what: Iterable[Examination], there: dict[str, Part]) -> Iterator[Part]:
        """The parts of one run that are asked for and not there, each as soon as it is made."""
        wanted = [kind for kind in ALL if kind in what and f"{kind}/{run.label}" not in there]
        if not wanted:
            return
        if "explanation" in wanted:
            self._say(run, "explanation")
            yield self._part(run, "explanation", self._explained(run))
        if wanted == ["explanation"]:
            return
        self._say(run, "preparation")
        prepared = prepare(self.model, run.config, calibration=self.calibration, cancel=self.cancel)
        feeds: Sequence[Feed] = self.inputs.feeds
        if run.config.prepares:
            feeds = cast_feeds(feeds, prepared.model)
        kept = there.get(f"profile/{run.label}")
        if {"profile", *_FROM_PROFILE} & {*wanted}:
            if kept is None:
                self._say(run, "profile")
                execution = Execution(prepared.model.path, prepared.config, feeds)
                found = profile_execution(execution, cancel=self.cancel)
                kept = self._part(run, "profile", record_of(found))
                yield kept
            profile = profile_of(kept.record)
            if "memory" in wanted:
                self._say(run, "memory")
                alone = Execution(
                    prepared.model.path,
                    prepared.config,
                    feeds,
                    budget_s=MEMORY_BUDGET_S,
                    per_node_memory=True,
                )
                by_node = profile_execution(alone, cancel=self.cancel)
                yield self._part(run, "memory", memory_as_asked(by_node, profile))
            if "roofline" in wanted:
                self._say(run, "roofline")
                yield self._part(run, "roofline", roofline(profile, self._peaks_of(run)))
        if "cold start" in wanted:
            self._say(run, "cold start")
            start = cold_start(
                prepared.model.path,
                prepared.config,
                feeds,
                label=run.label,
                savable=can_be_saved(prepared.config),
                cancel=self.cancel,
            )
            yield self._part(run, "cold start", start)

    def _explained(self, run: Run) -> Any:
        return explanation.explain(self.model, run.config, cancel=self.cancel)

    def _peaks_of(self, run: Run) -> PeakRow:
        count = run.threads or usable_cores()
        if count not in self._peaks:
            self._peaks[count] = measure_peaks((count,), cancel=self.cancel).rows[0]
        return self._peaks[count]

    def _part(self, run: Run, kind: str, record: object) -> Part:
        return Part(
            f"{kind}/{run.label}", record, origin_of(self.model, run.config, self.inputs, cancel=self.cancel)
        )

    def _say(self, run: Run, what: str) -> None:
        if self.on_step is not None:
            self.on_step(f"{run.label}: {what}")


def check_what(what: tuple[str, ...]) -> tuple[Examination, ...]:
    """All of them unless told; a name that is none is an error."""
    for one in what:
        if one not in ALL:
            raise ConfigError(f"{one!r} is nothing to examine", f"choose from: {', '.join(ALL)}")
    return tuple(kind for kind in ALL if not what or kind in what)


def check_same(model: Model, record: ComparisonRecord) -> None:
    """Another file would explain another thing."""
    if model.sha256 != record.model.sha256:
        raise ModelError(
            f"{model.name} is not the model of this result: its SHA-256 begins with {model.sha256[:12]}",
            f"attach the file whose SHA-256 begins with {record.model.sha256[:12]}",
        )


def inputs_again(model: Model, record: ComparisonRecord) -> Inputs:
    """The random inputs of the measurement, from their seed and shapes."""
    told = record.inputs
    real = real_inputs(model, [run.config for run in record.runs], None)
    if real is not None and real.record().made_by == told.made_by:
        return real
    if told.seed is None:
        raise ModelError(
            f"this result was measured with inputs of your own ({told.made_by[:80]}), which it does not hold",
            "give them again: result.attach(model, inputs=…)",
        )
    free = {f"{name}.{axis}" for name, axis, _ in free_dims(declared_inputs(model.structure))}
    dims: dict[str, Any] = {}
    for name, kind in told.shapes:
        inside = kind.partition("[")[2].rstrip("]")
        for axis, size in enumerate(filter(None, inside.split(","))):
            if size.isdecimal() and f"{name}.{axis}" in free:
                dims[f"{name}.{axis}"] = int(size)
    return model.inputs(seed=told.seed, **dims)
