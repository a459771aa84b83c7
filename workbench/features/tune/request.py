"""A study as the user asked for it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from workbench.core.bundle.goal import Goal, Objective, check_objectives
from workbench.core.bundle.run import Run
from workbench.core.config import Config
from workbench.core.errors import ConfigError, ModelError
from workbench.core.measure.agreement import TOLERANCE
from workbench.core.measure.compare_request import CompareRequest, check_seed
from workbench.core.measure.limits import Limits
from workbench.core.models import Inputs, Model
from workbench.core.text import quoted, shorten
from workbench.features.tune.record import StudyRecord
from workbench.features.tune.space import Space


class FileWatch:
    """The size and the time of each file of a model, as they were at the start."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._files = (model.path, *(model.path.parent / file.name for file in model.external))
        self._before = self._state()

    def check(self) -> None:
        """Raise ModelError if a file changed or is gone."""
        if self._state() != self._before:
            raise ModelError(
                f"{shorten(self._model.name)} changed while it was tuned",
                "start again with the file as it is now; the rounds measured before are in the history",
            )

    def _state(self) -> tuple[tuple[int, int], ...] | None:
        try:
            states = [file.stat() for file in self._files]
        except OSError:
            return None
        return tuple((state.st_size, state.st_mtime_ns) for state in states)


_LEAST_BUDGET_S = 5.0
_PATIENCE = 20.0  # times the default's own time, after which a candidate counts as hanging
LEAST_PATIENCE_S = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyRequest:
    """The model, what may vary, what to improve, and how to measure."""

    model: Model
    inputs: Inputs
    space: Space
    base: Config = field(default_factory=Config)
    objective: Objective = "latency"
    further: tuple[Objective, ...] = ()  # objectives after the first
    callers: int = 4  # at once, where throughput is an objective
    goal: Goal = field(default_factory=Goal)
    budget_s: float = 300.0
    smallest_effect: float = 0.01
    pacing_s: float | None = None
    tolerance: float = TOLERANCE
    seed: int = 0
    limits: Limits = field(default_factory=Limits)
    calibration: Any = None
    data: Any = None  # labelled examples, as for `wb.accuracy`
    earlier: StudyRecord | None = None  # the study goes on from its rounds

    def check(self) -> None:
        """Refuse an invalid request before anything is measured."""
        check_objectives(self.objectives, self.callers)
        self.goal.check()
        check_seed(self.seed)
        if not isinstance(self.budget_s, int | float) or not _LEAST_BUDGET_S <= self.budget_s < float("inf"):
            raise ConfigError(
                f"budget_s={quoted(self.budget_s)} is too short for a study",
                f"give {_LEAST_BUDGET_S:.0f} seconds or more; 60 to 300 suit most models",
            )
        if not self.space.axes and not self.space.starts:
            raise ConfigError(
                "the space is empty: nothing may vary",
                "give a space, wb.Space.of(intra_op_threads=(1, 2)), or leave it out for the default",
            )

    @property
    def objectives(self) -> tuple[Objective, ...]:
        """All objectives, the first one first."""
        return (self.objective, *self.further)

    def limits_beside(self, default: Run) -> Limits:
        """Return the limits of a candidate, whose patience is that of the default's own times."""
        patience_s = max(LEAST_PATIENCE_S, _PATIENCE * max(default.load_s or 0.0, default.first_run_s or 0.0))
        limits = self.limits
        return replace(limits, load_s=min(limits.load_s, patience_s), run_s=min(limits.run_s, patience_s))

    def comparison(self, *configs: Config, budget_s: float | None = None, seed: int = 0) -> CompareRequest:
        """Return the request to compare configs as this study measures them."""
        return CompareRequest.of(
            self.model,
            configs,
            self.inputs,
            budget_s=budget_s,
            smallest_effect=self.smallest_effect,
            pacing_s=self.pacing_s,
            tolerance=self.tolerance,
            calibration=self.calibration,
            seed=seed,
            limits=self.limits,
        )
