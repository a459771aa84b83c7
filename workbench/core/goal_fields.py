"""The fields of a goal's limits, as every form asks for them."""

from __future__ import annotations

import math

from workbench.core.form import Field, percent

_MIB = 1 << 20


def at_least_zero(text: str) -> float:
    """Return a finite number from 0 up."""
    number = float(text)
    if not math.isfinite(number) or number < 0:
        raise ValueError("no limit")
    return number


def _milliseconds(text: str) -> float:
    """Return the seconds of a text in milliseconds."""
    return at_least_zero(text) / 1e3


def _mebibytes(text: str) -> int:
    """Return the bytes of a text in MiB."""
    return round(at_least_zero(text) * _MIB)


GOAL_FIELDS = (
    Field(
        "max_accuracy_drop",
        "accuracy drop",
        "Try int8 and 16-bit floats, too, if the accuracy drops by at most so many points of 100; needs "
        "examples with labels. Empty: the arithmetic stays as it is",
        percent,
        example="% at most",
        choices=(("no accuracy", ""), *((f"{drop} % accuracy", drop) for drop in ("0.5", "1", "2", "5"))),
    ),
    Field("max_error", "error", "Error of the outputs over their size; lets int8 take part without labels",
          percent, example="% at most"),
    Field("max_p50_s", "p50", "Median of the latency", _milliseconds, example="ms at most"),
    Field("max_p99_s", "p99", "Slowest 1 in 100", _milliseconds, example="ms at most"),
    Field("max_memory_bytes", "memory", "Peak memory of the process", _mebibytes, example="MiB at most"),
    Field("max_file_bytes", "file", "Size of the model file", _mebibytes, example="MiB at most"),
    Field("max_load_s", "load time", "Seconds until the model is loaded", at_least_zero, example="s at most"),
    Field("min_throughput", "throughput", "Runs a second", at_least_zero, example="a second at least"),
    Field("min_speedup", "speed-up", "Say what keeps it from this speed-up", at_least_zero,
          example="times wanted"),
)  # fmt: skip
