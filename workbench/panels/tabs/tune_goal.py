"""The fields of a study's goal: what to improve, the limits, the time."""

from __future__ import annotations

from workbench.panels import widgets as W
from workbench.panels.handlers import follow
from workbench.panels.number_field import MIB, NumberField
from workbench.records.goal import MOST_CALLERS, OBJECTIVES, OF_OUTPUTS, Goal, Objective

NONE = "nothing"  # no second objective


class GoalFields:
    """The fields that most people need in `first`, the other limits in `further`."""

    def __init__(self) -> None:
        single = [name for name in OBJECTIVES if name not in OF_OUTPUTS]
        self.objective = W.Dropdown(options=single, description="improve")
        self.second = W.Dropdown(options=[NONE, *OBJECTIVES], description="beside")
        self.callers = W.BoundedIntText(4, min=1, max=MOST_CALLERS, description="callers")
        self.accuracy = NumberField("accuracy drop", "% at most", 0.01, classes="wbp-roomy")
        self.error = NumberField("error", "% at most", 0.01, classes="wbp-slim")
        self.memory = NumberField("memory", "MiB at most", MIB)
        self.budget = W.BoundedFloatText(
            120.0, min=10.0, max=7200.0, description="seconds", classes="wbp-slim"
        )
        self.p99 = NumberField("p99", "ms at most", 1e-3)
        self.load = NumberField("load time", "s at most")
        self.file = NumberField("file", "MiB at most", MIB)
        self.speedup = NumberField("speed-up", "times wanted")
        outputs = (self.accuracy, self.error)
        first = [self.objective, self.second, self.callers, *outputs, self.memory, self.budget]
        self.first = W.HBox(first, classes="wbp-tools")
        self.further = W.HBox([self.p99, self.load, self.file, self.speedup], classes="wbp-tools")
        for field in (self.objective, self.second):
            follow(field, self._fit, "value")

    @property
    def goal(self) -> Goal:
        """The limits in the fields."""
        return Goal(
            max_accuracy_drop=self.accuracy.number,
            max_error=self.error.number,
            max_memory_bytes=self.memory.number,
            max_load_s=self.load.number,
            max_p99_s=self.p99.number,
            max_file_bytes=self.file.number,
            min_speedup=self.speedup.number,
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
