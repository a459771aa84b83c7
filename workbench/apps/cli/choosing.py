"""`workbench best`: whether a config of a saved result keeps limits, and which one is the fastest."""

from __future__ import annotations

import argparse
from typing import Any

from workbench.apps.cli.checks import of_best
from workbench.apps.cli.commands import Commands, add, add_command
from workbench.apps.cli.showing import opened, print_sentences
from workbench.apps.cli.subject import save
from workbench.core.errors import InputError

_EXAMPLE = "workbench best mobilenetv2.ortbench --max-p99 10 --max-accuracy-drop 1%"


def add_to(commands: Commands) -> None:
    """Add the command and its options."""
    text = "say which config of a saved comparison or grid keeps limits"
    best = add_command(commands, "best", run, text, _EXAMPLE)
    add(best, "source")
    best.add_argument("--max-p50", type=float, metavar="MS", help="median of the latency")
    add(best, "--max-p99")
    best.add_argument("--max-memory", type=float, metavar="MIB", help="peak memory")
    best.add_argument("--max-file", type=float, metavar="MIB", help="size of the model file")
    add(best, "--max-accuracy-drop", help="of a result that holds its accuracy")
    add(best, "--csv")


def run(arguments: argparse.Namespace) -> int:
    """Print the answer with its intervals: 0 is yes, 1 no, 3 not settled."""
    from workbench.features.compare.best import ConfigChoice

    result: Any = opened(arguments.source)
    if not isinstance(result, ConfigChoice):
        raise InputError(
            f"{arguments.source} holds no configs to choose from",
            "name a comparison, published files, or a grid of sizes or models",
        )
    limits = read_limits(arguments)
    if not limits:
        raise InputError("no limit was given", "give one or more: --max-p99 10")
    answer = result.best(**limits)
    print_sentences(arguments, answer)
    arguments.output = None  # nothing new was made
    return save(result, arguments, of_best(answer))


def read_limits(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the limits that the user gave, in the units of `result.best`."""
    in_units = {
        "max_p50_s": (arguments.max_p50, 1e-3),
        "max_p99_s": (arguments.max_p99, 1e-3),
        "max_memory_bytes": (arguments.max_memory, 2**20),
        "max_file_bytes": (arguments.max_file, 2**20),
        "max_accuracy_drop": (arguments.max_accuracy_drop, 1),
    }
    return {name: value * unit for name, (value, unit) in in_units.items() if value is not None}
