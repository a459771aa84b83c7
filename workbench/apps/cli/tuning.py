"""`workbench tune`: the best config for a goal."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from workbench.apps.cli.commands import Commands, add, add_command, add_subject
from workbench.apps.cli.limits import add_limits, limits_of
from workbench.apps.cli.showing import print_sentences
from workbench.apps.cli.subject import common, save, subject_of
from workbench.core.bundle.goal import OBJECTIVES
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
    add(tune, "--data", "--calibration", "--quiet", "--csv")
    add_limits(tune)
    tune.add_argument("--without", action="append", default=[], metavar="SETTING", help="do not vary it")
    tune.add_argument("--cluster", metavar="ADDRESS", help="search on a machine of this Dask scheduler")
    tune.add_argument("--target", metavar="TAG", help="with --cluster: on a worker with this tag")


def run(arguments: argparse.Namespace) -> int:
    """Search, then print the answer and the configs that were tried."""
    from workbench.features.remote.calls import connected, on
    from workbench.features.tune.call import default_space, tune

    model, config, inputs = subject_of(arguments)
    goal = limits_of(arguments)
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
