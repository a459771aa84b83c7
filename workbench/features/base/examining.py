"""Make the missing parts of a comparison: each result kind says how it examines one run."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from workbench.core.bundle.comparison import ComparisonRecord
from workbench.core.bundle.kinds import Part
from workbench.core.bundle.run import Run
from workbench.core.config import Config
from workbench.core.cpu import usable_cores
from workbench.core.errors import ConfigError, ModelError, WorkbenchError
from workbench.core.models import Inputs, Model
from workbench.core.models.generate import random_inputs
from workbench.core.models.usual import sizes_in
from workbench.core.prepare.calibration import real_inputs
from workbench.core.prepare.runnable import Runnable, make_runnable
from workbench.features.base.registry import KINDS
from workbench.features.base.result import origin_of
from workbench.features.profile.running import Execution, profile_execution
from workbench.features.profile.saved import profile_of
from workbench.features.profile.session_profile import SessionProfile


@dataclass(slots=True, kw_only=True)
class ExaminedRun:
    """One run of a comparison, as the `examine` function of a result kind gets it."""

    run: Run
    comparison: ComparisonRecord
    model: Model
    inputs: Inputs
    calibration: Any
    records: dict[str, Any]  # by the name of the part; grows
    on_part: Callable[[Part], None]
    on_step: Callable[[str], None] | None
    cancel: threading.Event | None
    _runnable: Runnable | None = None

    @property
    def label(self) -> str:
        return self.run.label

    @property
    def config(self) -> Config:
        return self.run.config

    def announce(self, step: str) -> None:
        """Report the step that begins."""
        if self.on_step is not None:
            self.on_step(f"{self.label}: {step}")

    def record(self, kind: str) -> Any:
        """Return the run's record of a kind; make it where it is missing."""
        name = f"{kind}/{self.label}"
        if name not in self.records:
            examine = KINDS.named(kind).examine
            assert examine is not None, f"{kind} cannot be examined"
            began_s = time.monotonic()
            self.records[name] = examine(self)
            self.announce(f"{kind} took {time.monotonic() - began_s:.1f} s")
            about = origin_of(self.model, self.config, self.inputs, cancel=self.cancel)
            self.on_part(Part(name, self.records[name], about))
        return self.records[name]

    def runnable(self) -> Runnable:
        """Prepare the file, the session's config and the feeds once."""
        if self._runnable is None:
            self.announce("preparation")
            self._runnable = make_runnable(
                self.model, self.config, self.inputs.feeds,
                calibration=self.calibration, cancel=self.cancel,
            )  # fmt: skip
        return self._runnable

    def execute(self, **options: Any) -> SessionProfile:
        """Run the config for a moment with ORT's profiler on; `options` as for `Execution`."""
        return profile_execution(Execution.of(self.runnable(), **options), cancel=self.cancel)

    def profile(self) -> SessionProfile:
        """Return the profile of the run, made where it is missing."""
        return profile_of(self.record("profile")).scaled_to(self.run.latency.median_s)

    @property
    def threads(self) -> int:
        """The threads that the run had, for the peaks of the machine."""
        return self.run.threads or usable_cores()


def check_kinds(kinds: tuple[str, ...]) -> tuple[str, ...]:
    """Return these kinds in the registry's order, all of them if none is named; refuse unknown names."""
    examinable = KINDS.examinable
    for kind in kinds:
        if kind not in examinable:
            raise ConfigError(f"{kind!r} is nothing to examine", f"choose from: {', '.join(examinable)}")
    return tuple(kind for kind in examinable if not kinds or kind in kinds)


def check_same(model: Model, record: ComparisonRecord) -> None:
    """Refuse another file than the one that was measured."""
    if model.sha256 != record.model.sha256:
        raise ModelError(
            f"{model.name} is not the model of this result: its SHA-256 begins with {model.sha256[:12]}",
            f"attach the file whose SHA-256 begins with {record.model.sha256[:12]}",
        )


def missing_part(record: ComparisonRecord, kind: str, label: str | None, has_model: bool) -> WorkbenchError:
    """Return the error that says why a part is missing and how to make it."""
    run = next((run for run in record.runs if run.label == label), None)
    if label is not None and run is None:
        known = ", ".join(run.label for run in record.runs)
        return ConfigError(f"there is no run {label!r}", f"the runs are: {known}")
    if run is not None and run.failure is not None:
        problem = f"{label} failed ({run.failure.problem}), so it has no {kind}"
        return WorkbenchError(problem, run.failure.fix)
    of_run = "" if label is None else f" of {label}"
    problem = f"this result has no {kind}{of_run} yet"
    if not has_model:
        return missing_model(problem, f"examine({kind!r})")
    return WorkbenchError(problem, f"result.examine({kind!r}) makes it")


def missing_model(problem: str, call: str) -> WorkbenchError:
    """Return the error of a reopened result that needs its model for `call`."""
    return WorkbenchError(problem, f"give it the model that was measured: result.attach(model).{call}")


def inputs_again(model: Model, record: ComparisonRecord) -> Inputs:
    """Make the random inputs of the measurement again, from their seed and shapes."""
    measured = record.inputs
    real = real_inputs(model, [run.config for run in record.runs], None)
    if real is not None and real.record().made_by == measured.made_by:
        return real
    if measured.seed is None:
        raise ModelError(
            f"this result was measured with inputs of your own ({measured.made_by[:80]}), "
            "which it does not hold",
            "give them again: result.attach(model, inputs=…)",
        )
    dims = sizes_in(model.structure, measured.shapes)
    return random_inputs(model.structure, model.name, measured.seed, dims, model.usual)
