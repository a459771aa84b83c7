"""`workbench accuracy`: configs evaluated on the same examples."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from workbench.cli.checks import of_accuracy
from workbench.cli.comparing import add_configs, percent, read_candidates
from workbench.cli.showing import print_result
from workbench.cli.subject import add_calibration, shows_progress
from workbench.cli.summaries import add_options, finish

if TYPE_CHECKING:
    from workbench.cli.commands import Commands

EXAMPLE = "workbench accuracy digits-conv --b precision=static_int8"


def add_to(commands: Commands) -> None:
    """Add the command and its options."""
    accuracy = commands.add_parser(
        "accuracy",
        help="evaluate configs on the same examples: accuracy, and the error of every output",
        epilog=f"Example: {EXAMPLE}",
    )
    accuracy.add_argument("model", help="a sample's name, a path, a URL or hf://org/repo/file.onnx")
    add_configs(accuracy)
    accuracy.add_argument(
        "--data",
        metavar="FILE",
        help="examples (.npz): an array for each input, and one called labels; default: a trained sample's "
        "own evaluation set, else random inputs",
    )
    accuracy.add_argument("--metric", choices=("top1", "top5", "f1"), help="default: what fits the labels")
    accuracy.add_argument("--metric-output", metavar="NAME", help="the output that the metric reads")
    accuracy.add_argument("--items", type=int, metavar="N", help="take the first N examples")
    accuracy.add_argument("--batch", type=int, metavar="N", help="examples in one run")
    add_calibration(accuracy)
    accuracy.add_argument("--seed", type=int, default=0, help="seed of random inputs")
    accuracy.add_argument("-o", "--output", metavar="FILE", help="save it as a bundle (.ortbench)")
    accuracy.add_argument("--csv", action="store_true", help="print the table as CSV instead of text")
    accuracy.add_argument("--quiet", action="store_true", help="no progress bar")
    accuracy.add_argument(
        "--max-accuracy-drop", type=percent, metavar="SHARE", help="end with exit code 1 if one loses more"
    )
    accuracy.add_argument("--no-history", action="store_true", help="do not keep it in the history")
    add_options(accuracy)
    accuracy.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Evaluate the configs; one that could not be evaluated leaves it open."""
    from workbench.api.accuracy import accuracy
    from workbench.judge.compare_request import check_seed

    check_seed(arguments.seed)
    result = accuracy(
        arguments.model,
        *read_candidates(arguments),
        data=arguments.data,
        metric=arguments.metric,
        output=arguments.metric_output,
        calibration=arguments.calibration,
        items=arguments.items,
        batch=arguments.batch,
        seed=arguments.seed,
        progress=shows_progress(arguments),
        keep=not arguments.no_history,
    )
    print_result(result, result.to_frame(), as_csv=arguments.csv)
    return finish(arguments, result, of_accuracy(result.record, arguments.max_accuracy_drop))
