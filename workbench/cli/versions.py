"""`workbench compare-versions`: one model on several versions of ONNX Runtime."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from workbench.cli.checks import of_comparison
from workbench.cli.showing import print_sentences
from workbench.cli.subject import add_calibration, add_subject, shows_progress, subject_of
from workbench.cli.summaries import add_options, finish

if TYPE_CHECKING:
    from workbench.cli.commands import Commands


def add_to(commands: Commands) -> None:
    """Add the command and its options."""
    command = commands.add_parser(
        "compare-versions",
        help="say what changes with the version of ONNX Runtime",
        epilog="Example: workbench compare-versions bert-base --environment ~/ort117 --environment ~/ort120",
    )
    add_subject(command)
    command.add_argument(
        "--environment", action="append", required=True, metavar="PATH",
        help="an interpreter or a virtual environment, may be repeated; one alone is compared with this one",
    )  # fmt: skip
    command.add_argument("--npz", metavar="FILE", help="your own inputs, an array for each input's name")
    add_calibration(command)
    command.add_argument("--budget", type=float, metavar="S", help="seconds that it may take")
    command.add_argument("--csv", action="store_true", help="print the table as CSV instead of text")
    command.add_argument("--no-history", action="store_true", help="do not keep it in the history")
    command.add_argument("--quiet", action="store_true", help="no progress bar")
    add_options(command, judges=True)
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Compare, print what changed, and save."""
    from workbench.api.versions import compare_versions

    model, config, inputs = subject_of(arguments)
    result = compare_versions(
        model,
        arguments.environment,
        config,
        inputs=inputs,
        calibration=arguments.calibration,
        budget_s=arguments.budget,
        progress=shows_progress(arguments),
        keep=not arguments.no_history,
    )
    print_sentences(result, result.to_frame(), as_csv=arguments.csv)
    return finish(arguments, result, of_comparison(result.record.comparison, arguments.fail_if))
