"""`workbench best`: whether a config of a saved result keeps limits, and which one is the fastest."""

from __future__ import annotations

import argparse

from workbench.apps.cli.commands import Commands, add, add_command
from workbench.apps.cli.limits import add_numbers, given_limits
from workbench.apps.cli.showing import opened, print_result
from workbench.core.errors import InputError
from workbench.core.measure.gates import exit_code

_EXAMPLE = "workbench best mobilenetv2.ortbench --max-p99 10 --max-accuracy-drop 1%"


def add_to(commands: Commands) -> None:
    """Add the command and its options."""
    text = "say which config of a saved comparison or grid keeps limits"
    best = add_command(commands, "best", run, text, _EXAMPLE)
    add(best, "source")
    add_numbers(best, "--max-p50", "--max-p99", "--max-memory", "--max-file")
    add(best, "--max-accuracy-drop", help="of a result that holds its accuracy")
    add(best, "--csv")


def run(arguments: argparse.Namespace) -> int:
    """Print the answer with its intervals: 0 is yes, 1 no, 3 not settled."""
    result = opened(arguments.source)
    if not result.knows_best:
        raise InputError(
            f"{arguments.source} holds no configs to choose from",
            "name a comparison, published files, or a grid of sizes or models",
        )
    limits = given_limits(arguments)
    if not limits:
        raise InputError("no limit was given", "give one or more: --max-p99 10")
    answer = result.best(**limits)
    print_result(arguments, answer, text=str)
    return exit_code(answer.gates())
