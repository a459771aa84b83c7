"""`workbench prepare`: the model file that ORT loads for a config."""

from __future__ import annotations

import argparse
import sys

from workbench.apps.cli.commands import Commands, add, add_command
from workbench.apps.cli.showing import print_result
from workbench.core.text import path_text

_EXAMPLE = "workbench prepare bert-base --a precision=dynamic_int8"


def add_to(commands: Commands) -> None:
    """Add the command and its options."""
    text = "quantize, fuse or convert a model file, as a config asks for"
    prepare = add_command(commands, "prepare", run, text, _EXAMPLE)
    add(prepare, "model", "--a", "--calibration", "--csv")
    folder = "a new folder for the model, its script, its calibration data"
    add(prepare, "--output", type=str, metavar="FOLDER", help=folder)
    add(prepare, "--quiet", help="do not name the steps while they run")


def run(arguments: argparse.Namespace) -> int:
    """Print each step, and the path of the prepared file or of the folder with it."""
    from workbench.core.config import Config
    from workbench.core.models import load
    from workbench.core.prepare.preparing import prepare

    prepared = prepare(
        load(arguments.model),
        Config.from_assignments(arguments.a or []),
        calibration=arguments.calibration,
        on_step=None if arguments.quiet else lambda name: print(f"{name}…", file=sys.stderr),
    )
    print_result(arguments, prepared, text=str)
    path = prepared.export(arguments.output) if arguments.output else prepared.model.path
    print(path_text(path), file=sys.stderr if arguments.csv or arguments.json else sys.stdout)
    return 0
