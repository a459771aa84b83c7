"""The fields of a study's goal: what to improve, the limits, the time."""

from __future__ import annotations

from workbench.panels import widgets as W
from workbench.panels.handlers import follow
from workbench.panels.number_field import number_in
from workbench.records.goal import MOST_CALLERS, OBJECTIVES, OF_OUTPUTS, Goal, Objective

NONE = "nothing"  # no second objective


class GoalFields:
    """The fields that most people need in `first`, the other limits in `further`."""

    def __init__(self) -> None:
        single = [name for name in OBJECTIVES if name not in OF_OUTPUTS]
        self.objective = W.Dropdown(options=single, description="improve")
        self.second = W.Dropdown(options=[NONE, *OBJECTIVES], description="beside")
        self.callers = W.BoundedIntText(4, min=1, max=MOST_CALLERS, description="callers")
        self.accuracy = W.Text(description="accuracy drop", placeholder="% at most", classes="wbp-roomy")
        self.error = W.Text(description="error", placeholder="% at most", classes="wbp-slim")
        self.memory = W.Text(description="memory", placeholder="MiB at most")
        self.budget = W.BoundedFloatText(
            120.0, min=10.0, max=7200.0, description="seconds", classes="wbp-slim"
        )
        self.p99 = W.Text(description="p99", placeholder="ms at most")
        self.load = W.Text(description="load time", placeholder="s at most")
        self.file = W.Text(description="file", placeholder="MiB at most")
        self.speedup = W.Text(description="speed-up", placeholder="times wanted")
        outputs = (self.accuracy, self.error)
        first = [self.objective, self.second, self.callers, *outputs, self.memory, self.budget]
        self.first = W.HBox(first, classes="wbp-tools")
        self.further = W.HBox([self.p99, self.load, self.file, self.speedup], classes="wbp-tools")
        for field in (self.objective, self.second):
            follow(field, self._fit, "value")

    @property
    def goal(self) -> Goal:
        """The limits in the fields."""
        memory, file = (number_in(field, 2.0**20) for field in (self.memory, self.file))
        return Goal(
            max_accuracy_drop=number_in(self.accuracy, 0.01),
            max_error=number_in(self.error, 0.01),
            max_memory_bytes=None if memory is None else round(memory),
            max_load_s=number_in(self.load),
            max_p99_s=number_in(self.p99, 1e-3),
            max_file_bytes=None if file is None else round(file),
            min_speedup=number_in(self.speedup),
        )

    @property
    def second_objective(self) -> Objective | None:
        """The other objective of the front, if there is one."""
        name: Objective = self.second.value
        return None if self.second.value == NONE else name

    def _fit(self) -> None:
        """Show the number of callers only where it counts."""
        under_load = "throughput" in (self.objective.value, self.second.value)
        W.set_shown(self.callers, under_load)
