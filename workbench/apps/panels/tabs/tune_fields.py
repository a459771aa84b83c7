"""The fields of the tune tab: the goal with its limits and its time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from workbench.apps.panels import widgets as W
from workbench.apps.panels.handlers import follow
from workbench.core.bundle.goal import MOST_CALLERS, OBJECTIVES, OF_OUTPUTS, Goal, Objective

_NONE = "nothing"  # no second objective
_LIMITS = {  # argument of wb.Goal: label, example, unit, class in the style sheet
    "max_accuracy_drop": ("accuracy drop", "% at most", 0.01, "wbp-roomy"),
    "max_error": ("error", "% at most", 0.01, "wbp-slim"),
    "max_memory_bytes": ("memory", "MiB at most", W.MIB, ""),
    "max_p99_s": ("p99", "ms at most", 1e-3, ""),
    "max_load_s": ("load time", "s at most", 1.0, ""),
    "max_file_bytes": ("file", "MiB at most", W.MIB, ""),
    "min_speedup": ("speed-up", "times wanted", 1.0, ""),
    "max_p50_s": ("p50", "ms at most", 1e-3, ""),
    "min_throughput": ("throughput", "a second at least", 1.0, "wbp-roomy"),
}
_FIRST = 3  # limits that are not folded


class GoalFields:
    """The fields that most people need in `first`, the other limits in `further`."""

    def __init__(self) -> None:
        single = [name for name in OBJECTIVES if name not in OF_OUTPUTS]
        self.objective = W.Dropdown(options=single, description="improve")
        self.second = W.Dropdown(options=[_NONE, *OBJECTIVES], description="beside")
        self.callers = W.BoundedIntText(4, min=1, max=MOST_CALLERS, description="callers")
        self.budget = W.BoundedFloatText(
            120.0, min=10.0, max=7200.0, description="seconds", classes="wbp-slim"
        )
        self.limits = {
            name: W.NumberField(label, example, unit, classes=classes)
            for name, (label, example, unit, classes) in _LIMITS.items()
        }
        fields = [*self.limits.values()]
        limits, further = fields[:_FIRST], fields[_FIRST:]
        first = [self.objective, self.second, self.callers, *limits, self.budget]
        self.first = W.HBox(first, classes="wbp-tools")
        self.further = W.HBox(further, classes="wbp-tools")
        for field in (self.objective, self.second):
            follow(field, self._fit, "value")

    def observe(self, changed: Callable[[Any], None]) -> None:
        """Call `changed` whenever the objective, a limit or the time changes."""
        for field in (self.objective, self.second, self.budget, *self.limits.values()):
            field.observe(changed, names="value")

    @property
    def goal(self) -> Goal:
        """The limits in the fields."""
        return Goal(**{name: field.number for name, field in self.limits.items()})

    @property
    def second_objective(self) -> Objective | None:
        """The other objective of the front, if there is one."""
        name: Objective = self.second.value
        return None if self.second.value == _NONE else name

    def _fit(self) -> None:
        """Show the number of callers only where it counts."""
        under_load = "throughput" in (self.objective.value, self.second.value)
        W.set_shown(self.callers, under_load)
