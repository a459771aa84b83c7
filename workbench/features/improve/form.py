"""What the panels ask for to improve a config: the limits, what may not vary, the time."""

from __future__ import annotations

import math
from dataclasses import fields
from typing import Any

from workbench.core.bundle.goal import Goal
from workbench.core.feature import Arguments
from workbench.core.form import Field, names, percent

_MIB = 1 << 20


def _number(text: str) -> float:
    """Return a finite number from 0 up."""
    number = float(text)
    if not math.isfinite(number) or number < 0:
        raise ValueError("no limit")
    return number


def _milliseconds(text: str) -> float:
    """Return the seconds of a text in milliseconds."""
    return _number(text) / 1e3


def _mebibytes(text: str) -> int:
    """Return the bytes of a text in MiB."""
    return round(_number(text) * _MIB)


FORM = (
    Field(
        "max_accuracy_drop",
        "accuracy drop",
        "Try int8 and 16-bit floats, too, if the accuracy drops by at most so many points of 100; needs "
        "examples with labels. Empty: the arithmetic stays as it is",
        percent,
        example="% at most",
    ),
    Field("max_error", "error", "Error of the outputs over their size; lets int8 take part without labels",
          percent, example="% at most"),
    Field("max_p50_s", "p50", "Median of the latency", _milliseconds, example="ms at most"),
    Field("max_p99_s", "p99", "Slowest 1 in 100", _milliseconds, example="ms at most"),
    Field("max_memory_bytes", "memory", "Peak memory of the process", _mebibytes, example="MiB at most"),
    Field("max_file_bytes", "file", "Size of the model file", _mebibytes, example="MiB at most"),
    Field("max_load_s", "load time", "Seconds until the model is loaded", _number, example="s at most"),
    Field("min_throughput", "throughput", "Runs a second", _number, example="a second at least"),
    Field("min_speedup", "speed-up", "Say what keeps it from this speed-up", _number, example="times wanted"),
    Field("without", "may not vary", "Settings that stay as they are", names, example="level, precision"),
    Field("budget_s", "may take (s)", "The seconds that all of it may take", _number, example="180"),
)  # fmt: skip
LIMITS = tuple(limit.name for limit in fields(Goal))


def arguments_of(model: Any, configs: tuple[Any, ...], options: dict[str, Any]) -> Arguments:
    """Return the arguments of `improve`; the limits stand in one goal."""
    limits = {name: value for name, value in options.items() if name in LIMITS}
    others = {name: value for name, value in options.items() if name not in LIMITS}
    return (model, *configs), {**({"limits": Goal(**limits)} if limits else {}), **others}
