"""The limits that a config must keep, as options of a command."""

from __future__ import annotations

import argparse
import math
from typing import Any

from workbench.apps.cli.commands import add, percent
from workbench.core.bundle.goal import Goal

_MIB = 1 << 20
_LIMITS = {  # option: argument of wb.Goal, its unit, its name in the help, the help
    "--max-p50": ("max_p50_s", 1e-3, "MS", "median of the latency"),
    "--max-p99": ("max_p99_s", 1e-3, "MS", "99th percentile of the latency"),
    "--max-memory": ("max_memory_bytes", _MIB, "MIB", "peak memory that it may take"),
    "--max-load": ("max_load_s", 1, "S", "seconds that loading may take"),
    "--max-file": ("max_file_bytes", _MIB, "MIB", "size that its model file may have"),
    "--min-throughput": (
        "min_throughput", 1, "RATE", "runs a second; of the callers where they are the objective",
    ),
    "--min-speedup": ("min_speedup", 1, "TIMES", "say what keeps it from this speed-up"),
}  # fmt: skip


def add_limits(command: argparse.ArgumentParser) -> None:
    """Add an option for each limit of a goal."""
    add(command, "--max-accuracy-drop")
    text = "try int8 too, with at most this error"
    command.add_argument("--max-error", type=percent, metavar="SHARE", help=text)
    add_numbers(command, *_LIMITS)


def add_numbers(command: argparse.ArgumentParser, *options: str) -> None:
    """Add some of the limits that are a number with a unit."""
    for option in options:
        _, _, metavar, text = _LIMITS[option]
        command.add_argument(option, type=float, metavar=metavar, help=text)


def limits_of(arguments: argparse.Namespace) -> Goal:
    """Return the goal of these options."""
    return Goal(**given_limits(arguments), max_error=arguments.max_error)


def given_limits(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the limits that were given, as arguments of `wb.Goal` and of `result.best`."""
    limits: dict[str, Any] = {"max_accuracy_drop": arguments.max_accuracy_drop}
    for option, (name, unit, _, _) in _LIMITS.items():
        given = getattr(arguments, option.removeprefix("--").replace("-", "_"), None)
        limit = None if given is None else given * unit
        if limit is not None and unit == _MIB and math.isfinite(limit):  # the goal refuses the others
            limit = round(limit)
        limits[name] = limit
    return {name: limit for name, limit in limits.items() if limit is not None}
