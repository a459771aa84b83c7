"""`workbench explain`, `levels`, `profile`, `threads`: what ORT makes of a config, and where time goes."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli.checks import of_levels, of_threads
from workbench.cli.showing import print_result
from workbench.cli.subject import (
    add_calibration,
    add_subject,
    model_and_config,
    save,
    shows_progress,
    subject_of,
)
from workbench.cli.summaries import add_options, finish

if TYPE_CHECKING:
    from workbench.cli.commands import Commands


def add_to(commands: Commands) -> None:
    """Add the commands and their options."""
    explain = commands.add_parser(
        "explain",
        help="say what ONNX Runtime does to the graph: passes, what became of each node, where nodes run",
        epilog="Example: workbench explain bert-base --a level=extended --csv",
    )
    explain.add_argument(
        "--passes", choices=("auto", "on", "off"), default="auto", help="capture the graph after each pass"
    )
    explain.add_argument("--profile", action="store_true", help="run it, too, and put times to nodes")
    explain.set_defaults(run=run_explain)

    levels = commands.add_parser("levels", help="measure a model at each optimization level")
    levels.add_argument("--budget", type=float, metavar="S", help="seconds that it may take")
    levels.set_defaults(run=run_levels)

    profile = commands.add_parser(
        "profile",
        help="say where the time of a run goes, with the profiler of ONNX Runtime",
        epilog="Example: workbench profile bert-base --by node --keep-trace trace.json",
    )
    profile.add_argument("--budget", type=float, default=1.0, metavar="S", help="seconds of runs; default 1")
    profile.add_argument(
        "--by",
        choices=("op_type", "node", "scope", "provider", "thread"),
        default="op_type",
        help="a row for each of these; default op_type",
    )
    profile.add_argument("--keep-trace", metavar="FILE", type=Path, help="keep the file that ORT wrote")
    profile.set_defaults(run=run_profile)

    threads = commands.add_parser("threads", help="measure 1, 2, 4… threads, spinning and not")
    threads.add_argument("--most-threads", type=int, metavar="N", help="default: the cores of this machine")
    threads.add_argument("--budget", type=float, metavar="S", help="seconds that it may take; default 30")
    threads.set_defaults(run=run_threads)

    for command in (explain, levels, profile, threads):
        add_subject(command)
        command.add_argument("--npz", metavar="FILE", help="your own inputs, an array for each input's name")
        add_calibration(command)
        command.add_argument("--csv", action="store_true", help="print the table as CSV instead of text")
    add_options(levels, judges=True)
    add_options(threads)
    for command in (explain, levels, profile, threads):
        command.add_argument("--no-history", action="store_true", help="do not keep it in the history")
    for command in (levels, threads):
        command.add_argument("--quiet", action="store_true", help="no progress bar")


def run_explain(arguments: argparse.Namespace) -> int:
    """Print the account of the nodes and a row for each of them."""
    from workbench.api.explaining import explain

    needs_inputs = arguments.profile or arguments.npz or arguments.dim
    model, config, inputs = subject_of(arguments) if needs_inputs else (*model_and_config(arguments), None)
    result = explain(
        model,
        config,
        profile=arguments.profile,
        inputs=inputs,
        passes={"on": True, "off": False}.get(arguments.passes, "auto"),
        calibration=arguments.calibration,
        keep=not arguments.no_history,
    )
    print_result(result, result.to_frame(), as_csv=arguments.csv)
    return save(result, arguments)


def run_levels(arguments: argparse.Namespace) -> int:
    """Print a row for each level; a level that could not be measured leaves it open."""
    from workbench.api.explaining import levels

    model, config, inputs = subject_of(arguments)
    result = levels(
        model,
        config,
        inputs=inputs,
        budget_s=arguments.budget,
        calibration=arguments.calibration,
        progress=shows_progress(arguments),
        keep=not arguments.no_history,
    )
    print_result(result, result.to_frame(), as_csv=arguments.csv)
    return finish(arguments, result, of_levels(result.record, arguments.fail_if))


def run_profile(arguments: argparse.Namespace) -> int:
    """Print the times by operator, or by what the user named."""
    from workbench.api.profiling import profile

    model, config, inputs = subject_of(arguments)
    result = profile(
        model,
        config,
        inputs=inputs,
        budget_s=arguments.budget,
        keep_trace=arguments.keep_trace,
        calibration=arguments.calibration,
        keep=not arguments.no_history,
    )
    frame = result.to_frame() if arguments.by == "node" else result.by(arguments.by)
    print_result(result, frame, as_csv=arguments.csv)
    return save(result, arguments)


def run_threads(arguments: argparse.Namespace) -> int:
    """Print a row for each count of threads; one that could not be measured leaves it open."""
    from workbench.api.profiling import THREADS_BUDGET_S, threads

    model, config, inputs = subject_of(arguments)
    result = threads(
        model,
        config,
        most_threads=arguments.most_threads,
        budget_s=THREADS_BUDGET_S if arguments.budget is None else arguments.budget,
        inputs=inputs,
        seed=arguments.seed,
        calibration=arguments.calibration,
        progress=shows_progress(arguments),
        keep=not arguments.no_history,
    )
    print_result(result, result.to_frame(), as_csv=arguments.csv)
    return finish(arguments, result, of_threads(result.record))
