"""`workbench matrix`: every model under every config."""

from __future__ import annotations

import argparse
import sys

from workbench.apps.cli.commands import SEED_AND_ORDER, Commands, add, add_command
from workbench.apps.cli.comparing import add_configs, read_candidates
from workbench.apps.cli.showing import print_sentences, table
from workbench.apps.cli.subject import common, save, shows_progress
from workbench.core.errors import ConfigError
from workbench.core.text import printable

_EXAMPLE = "workbench matrix bert-base mobilenetv2 --b level=basic --c intra_op_threads=1 -o all.ortbench"


def add_to(commands: Commands) -> None:
    """Add the command and its options."""
    matrix = add_command(commands, "matrix", run, "measure several models under several configs", _EXAMPLE)
    matrix.add_argument("models", nargs="+", metavar="model", help="samples' names, paths or URLs")
    add_configs(matrix)
    add(matrix, "--npz", help="inputs of every model, an array for each input's name")
    add(matrix, "--seed", help=SEED_AND_ORDER)
    add(matrix, "--budget", help="seconds that all models may take")
    add(matrix, "--output", help="the bundle, written after each model; called again, it goes on")
    matrix.add_argument("--sort", metavar="LABEL", help="order the models by the speed-up of this config")
    add(matrix, "--calibration", "--no-history", "--csv", "--quiet", "--allow-fallback", "--accuracy")
    add(matrix, "--fail-if")


def run(arguments: argparse.Namespace) -> int:
    """Measure every cell and print the table."""
    from workbench.core.bundle.run import labels_of
    from workbench.features.grid.calls import matrix
    from workbench.features.grid.record import gates_of_grid

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
        seed=arguments.seed,
        inputs=arguments.npz,
        **common(arguments),
    )
    if arguments.accuracy:
        for accuracy in result.accuracy(progress=shows_progress(arguments)).values():
            print(printable(str(accuracy), keep="\n"), file=sys.stderr)
        if arguments.output:
            result.save(arguments.output)
    if label is not None:
        result = result.sorted_by(label.upper())
    print_sentences(arguments, result)
    if not (arguments.csv or arguments.json):
        print(table(result.to_frame()))
    arguments.output = None  # it was written after each model
    return save(result, arguments, gates_of_grid(result.record, arguments.fail_if))
