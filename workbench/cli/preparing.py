"""`workbench prepare`: the model file that ORT loads for a config."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from workbench.cli.subject import add_calibration, model_and_config

if TYPE_CHECKING:
    from workbench.cli.commands import Commands


def add_to(commands: Commands) -> None:
    """Add the command and its options."""
    prepare = commands.add_parser(
        "prepare",
        help="quantize, fuse or convert a model file, as a config asks for",
        epilog="Example: workbench prepare bert-base --a precision=dynamic_int8",
    )
    prepare.add_argument("model", help="a sample's name, a path, a URL or hf://org/repo/file.onnx")
    prepare.add_argument("--a", action="append", metavar="KEY=VALUE", help="a setting; may be repeated")
    add_calibration(prepare)
    prepare.add_argument(
        "-o",
        "--output",
        metavar="FOLDER",
        help="a new folder for the model, its script, its calibration data",
    )
    prepare.add_argument("--csv", action="store_true", help="print the table as CSV instead of text")
    prepare.add_argument("--quiet", action="store_true", help="do not name the steps while they run")
    prepare.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print each step, and the path of the prepared file or of the folder with it."""
    from workbench.preparation.preparing import prepare
    from workbench.records.spreadsheet import csv_of
    from workbench.text import path_text, printable

    model, config = model_and_config(arguments)
    prepared = prepare(
        model,
        config,
        calibration=arguments.calibration,
        on_step=None if arguments.quiet else lambda name: print(f"{name}…", file=sys.stderr),
    )
    if arguments.csv:
        print(csv_of(prepared.to_frame()), end="")
    else:
        print(printable(str(prepared), keep="\n"))
    path = prepared.export(arguments.output) if arguments.output else prepared.model.path
    print(path_text(path), file=sys.stderr if arguments.csv else sys.stdout)
    return 0
