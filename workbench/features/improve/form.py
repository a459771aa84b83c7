"""What the panels ask for to improve a config: the limits, what may not vary, the time."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from workbench.core.bundle.goal import Goal
from workbench.core.feature import Arguments
from workbench.core.form import Field, names
from workbench.core.goal_fields import GOAL_FIELDS, at_least_zero

FORM = (
    *GOAL_FIELDS,
    Field("without", "may not vary", "Settings that stay as they are", names, example="level, precision"),
    Field("budget_s", "may take (s)", "The seconds that all of it may take", at_least_zero, example="180"),
)  # fmt: skip
LIMITS = tuple(limit.name for limit in fields(Goal))


def arguments_of(model: Any, configs: tuple[Any, ...], options: dict[str, Any]) -> Arguments:
    """Return the arguments of `improve`; the limits stand in one goal."""
    limits = {name: value for name, value in options.items() if name in LIMITS}
    others = {name: value for name, value in options.items() if name not in LIMITS}
    return (model, *configs), {**({"limits": Goal(**limits)} if limits else {}), **others}
