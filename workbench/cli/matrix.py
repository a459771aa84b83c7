"""`workbench matrix`: every model under every config."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from workbench.cli.checks import of_matrix
from workbench.cli.comparing import add_configs, read_candidates
from workbench.cli.showing import print_sentences, table
from workbench.cli.subject import add_accuracy, add_calibration, shows_progress
from workbench.cli.summaries import add_options, finish
from workbench.errors import ConfigError

if TYPE_CHECKING:
    from workbench.cli.commands import Commands

EXAMPLE = "workbench matrix bert-base mobilenetv2 --b level=basic --c intra_op_threads=1 -o all.ortbench"


def add_to(commands: Commands) -> None:
    """Add the command and its options."""
    matrix = commands.add_parser(
        "matrix", help="measure several models under several configs", epilog=f"Example: {EXAMPLE}"
    )
    matrix.add_argument("models", nargs="+", metavar="model", help="samples' names, paths or URLs")
    add_configs(matrix)
    matrix.add_argument("--npz", metavar="FILE", help="inputs of every model, an array for each input's name")
    add_calibration(matrix)
    matrix.add_argument("--seed", type=int, default=0, help="seed of the inputs and the order of measuring")
    matrix.add_argument("--budget", type=float, metavar="S", help="seconds that all models may take")
    matrix.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="the bundle, written after each model; called again, it goes on",
    )
    matrix.add_argument("--sort", metavar="LABEL", help="order the models by the speed-up of this config")
    matrix.add_argument("--no-history", action="store_true", help="do not keep it in the history")
    matrix.add_argument("--csv", action="store_true", help="print the table as CSV instead of text")
    matrix.add_argument("--quiet", action="store_true", help="no progress bar")
    add_accuracy(matrix)
    add_options(matrix, judges=True)
    matrix.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Measure every cell and print the table."""
    from workbench.api.matrix import matrix
    from workbench.records.run import labels_of
    from workbench.text import printable

    configs = read_candidates(arguments)
    label = arguments.sort
    if label is not None and label.upper() not in labels_of(len(configs)):
        raise ConfigError(
            f"--sort {label!r} names no config", f"the letters are A to {labels_of(len(configs))[-1]}"
        )
    result = matrix(
        arguments.models,
        configs,
        file=arguments.output,
        budget_s=arguments.budget,
        seed=arguments.seed,
        inputs=arguments.npz,
        calibration=arguments.calibration,
        progress=shows_progress(arguments),
        keep=not arguments.no_history,
    )
    if arguments.accuracy:
        for accuracy in result.accuracy(progress=shows_progress(arguments)).values():
            print(printable(str(accuracy), keep="\n"), file=sys.stderr)
        if arguments.output:
            result.save(arguments.output)
    if label is not None:
        result = result.sorted_by(label.upper())
    frame = result.to_frame()
    print_sentences(result, frame, as_csv=arguments.csv)
    if not arguments.csv:
        print(table(frame))
    arguments.output = None  # it was written after each model
    return finish(arguments, result, of_matrix(result.record, arguments.fail_if))
