"""`workbench accuracy`: configs evaluated on the same examples."""

from __future__ import annotations

import argparse

from workbench.apps.cli.checks import of_accuracy
from workbench.apps.cli.commands import Commands, add, add_command
from workbench.apps.cli.comparing import add_configs, read_candidates
from workbench.apps.cli.showing import print_result
from workbench.apps.cli.subject import common, save

_EXAMPLE = "workbench accuracy digits-conv --b precision=static_int8"


def add_to(commands: Commands) -> None:
    """Add the command and its options."""
    text = "evaluate configs on the same examples: accuracy, and the error of every output"
    accuracy = add_command(commands, "accuracy", run, text, _EXAMPLE)
    add(accuracy, "model")
    add_configs(accuracy)
    add(
        accuracy, "--data",
        help="examples (.npz): an array for each input, and one called labels; default: a trained sample's "
        "own evaluation set, else random inputs",
    )  # fmt: skip
    accuracy.add_argument("--metric", choices=("top1", "top5", "f1"), help="default: what fits the labels")
    accuracy.add_argument("--metric-output", metavar="NAME", help="the output that the metric reads")
    accuracy.add_argument("--items", type=int, metavar="N", help="take the first N examples")
    accuracy.add_argument("--batch", type=int, metavar="N", help="examples in one run")
    add(accuracy, "--seed", help="seed of random inputs")
    add(accuracy, "--max-accuracy-drop", help="end with exit code 1 if one loses more")
    add(accuracy, "--calibration", "--output", "--csv", "--quiet", "--no-history")


def run(arguments: argparse.Namespace) -> int:
    """Evaluate the configs; one that could not be evaluated leaves it open."""
    from workbench.core.measure.compare_request import check_seed
    from workbench.features.accuracy.result import accuracy

    check_seed(arguments.seed)
    result = accuracy(
        arguments.model,
        *read_candidates(arguments),
        data=arguments.data,
        metric=arguments.metric,
        output=arguments.metric_output,
        items=arguments.items,
        batch=arguments.batch,
        seed=arguments.seed,
        **common(arguments),
    )
    print_result(arguments, result, result.to_frame())
    return save(result, arguments, of_accuracy(result.record, arguments.max_accuracy_drop))
