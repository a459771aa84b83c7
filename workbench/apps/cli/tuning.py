"""`workbench tune`: the best config for a goal."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from workbench.apps.cli.commands import Commands, add, add_command, add_subject, percent
from workbench.apps.cli.showing import print_sentences
from workbench.apps.cli.subject import common, save, subject_of
from workbench.core.bundle.goal import OBJECTIVES, Goal
from workbench.core.errors import ConfigError

if TYPE_CHECKING:
    from workbench.features.tune.result import Study


def add_to(commands: Commands) -> None:
    """Add the command and its options."""
    tune = add_command(commands, "tune", run, "search the best config for a goal, and prove it")
    add_subject(tune)
    add(tune, "--budget", default=300.0)
    tune.add_argument(
        "--objective",
        choices=OBJECTIVES,
        action="append",
        default=[],
        help="what to improve; several: a front",
    )
    tune.add_argument("--callers", type=int, default=4, metavar="N", help="at once, for throughput")
    add(tune, "--max-accuracy-drop", "--max-p99", "--data", "--calibration", "--quiet", "--csv")
    tune.add_argument(
        "--max-error", type=percent, metavar="SHARE", help="try int8 too, with at most this error"
    )
    tune.add_argument("--max-p50", type=float, metavar="MS", help="median of the latency")
    tune.add_argument(
        "--min-throughput", type=float, metavar="RATE",
        help="runs a second; with --objective throughput those of the callers",
    )  # fmt: skip
    tune.add_argument("--max-memory", type=float, metavar="MIB", help="peak memory that it may take")
    tune.add_argument("--max-load", type=float, metavar="S", help="seconds that loading may take")
    tune.add_argument("--max-file", type=float, metavar="MIB", help="size that its model file may have")
    tune.add_argument(
        "--min-speedup", type=float, metavar="TIMES", help="say what keeps it from this speed-up"
    )
    tune.add_argument("--without", action="append", default=[], metavar="SETTING", help="do not vary it")
    tune.add_argument("--cluster", metavar="ADDRESS", help="search on a machine of this Dask scheduler")
    tune.add_argument("--target", metavar="TAG", help="with --cluster: on a worker with this tag")


def run(arguments: argparse.Namespace) -> int:
    """Search, then print the answer and the configs that were tried."""
    from workbench.features.remote.calls import connected, on
    from workbench.features.tune.call import default_space, tune

    model, config, inputs = subject_of(arguments)
    memory, p99, file = arguments.max_memory, arguments.max_p99, arguments.max_file
    goal = Goal(
        max_accuracy_drop=arguments.max_accuracy_drop,
        max_error=arguments.max_error,
        max_memory_bytes=None if memory is None else round(memory * 2**20),
        max_load_s=arguments.max_load,
        max_p50_s=None if arguments.max_p50 is None else arguments.max_p50 / 1e3,
        min_throughput=arguments.min_throughput,
        max_p99_s=None if p99 is None else p99 / 1e3,
        max_file_bytes=None if file is None else round(file * 2**20),
        min_speedup=arguments.min_speedup,
    )
    if arguments.target and arguments.cluster is None:
        raise ConfigError("--target needs a cluster", "give the address of its scheduler: --cluster ADDRESS")
    space, objectives = None, arguments.objective or ["latency"]
    if arguments.without or arguments.cluster is None:
        space = default_space(
            model, base=config, objective=objectives, limits=goal, inputs=inputs,
            calibration=arguments.calibration,
        ).without(*arguments.without)  # fmt: skip
    asked = {
        "space": space,
        "objective": objectives,
        "callers": arguments.callers,
        "limits": goal,
        "base": config,
        "inputs": inputs,
        "data": arguments.data,
        "seed": arguments.seed,
        **common(arguments),
    }
    if arguments.cluster is None:
        return _printed(tune(model, **asked), arguments)
    with connected(arguments.cluster) as client:
        return _printed(on(client, arguments.target).tune(model, **asked), arguments)


def _printed(study: Study, arguments: argparse.Namespace) -> int:
    print_sentences(arguments, study)
    if not (arguments.json or arguments.csv):
        print(f"config: {study.best!r}")
    return save(study, arguments)
