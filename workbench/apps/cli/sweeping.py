"""`workbench sweep`: configs at several sizes or at several values of a knob."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from workbench.apps.cli.checks import of_grid
from workbench.apps.cli.commands import SEED_AND_ORDER, Commands, add, add_command
from workbench.apps.cli.comparing import add_configs, read_candidates
from workbench.apps.cli.showing import print_sentences, table
from workbench.apps.cli.subject import common, save, shows_progress
from workbench.core.errors import InputError
from workbench.core.form import axis_values

_EXAMPLE = "workbench sweep bert-base --over batch=1,8,32 --over threads=1,2"


def add_to(commands: Commands) -> None:
    """Add the command and its options."""
    sweep = add_command(
        commands, "sweep", run, "measure configs at several sizes or values of a knob", _EXAMPLE
    )
    add(sweep, "model")
    sweep.add_argument(
        "--over",
        action="append",
        default=[],
        metavar="NAME=V,V",
        help="a free dimension or a setting, and its values; may be repeated; by default the batch",
    )
    add_configs(sweep)
    add(sweep, "--seed", help=SEED_AND_ORDER)
    add(sweep, "--budget", help="seconds that all points may take")
    add(sweep, "--calibration", "--output", "--no-history", "--csv", "--quiet", "--accuracy")
    add(sweep, "--allow-fallback")
    add(sweep, "--fail-if")


def run(arguments: argparse.Namespace) -> int:
    """Measure every point and print the answer and the table."""
    from workbench.features.grid.calls import sweep

    result = sweep(
        arguments.model,
        *read_candidates(arguments),
        sizes=read_axes(arguments.over),
        seed=arguments.seed,
        **common(arguments),
    )
    if arguments.accuracy:
        print(result.accuracy(progress=shows_progress(arguments)), file=sys.stderr)
    print_sentences(arguments, result)
    if not (arguments.csv or arguments.json):
        print(table(result.to_frame()))
    return save(result, arguments, of_grid(result.record, arguments.fail_if))


def read_axes(texts: list[str]) -> dict[str, list[Any]]:
    """Return the values of each axis: whole numbers where all are, else values of a setting."""
    axes: dict[str, list[Any]] = {}
    for text in texts:
        name, equals, listed = text.rpartition("=")
        if not equals or not name or not all(map(str.strip, listed.split(","))):
            raise InputError(
                f"--over {text!r} is not NAME=V,V", "write the name and its values: --over batch=1,8,32"
            )
        if name in axes:
            raise InputError(
                f"--over {name!r} was given twice", f"write all its values at once: --over {text}"
            )
        axes[name] = axis_values(listed)
    return axes
