"""`workbench measure-pipelines`: models and functions in turn, the share of each stage."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from workbench.apps.cli.checks import of_pipelines
from workbench.apps.cli.commands import Commands, add, add_command
from workbench.apps.cli.showing import print_sentences
from workbench.apps.cli.subject import common, save

if TYPE_CHECKING:
    from workbench.core.config import Config
    from workbench.features.pipelines.pipeline import Pipeline

_EXAMPLE = (
    "workbench measure-pipelines steps.py:resize digits-conv steps.py:best --npz in.npz --b level=disabled"
)


def add_to(commands: Commands) -> None:
    """Add the command and its options."""
    text = "measure models and functions in turn"
    command = add_command(commands, "measure-pipelines", run, text, _EXAMPLE)
    command.add_argument("stages", nargs="+", metavar="STAGE", help="a model, or a function as FILE.py:NAME")
    command.add_argument(
        "--against", nargs="+", metavar="STAGE", help="the stages of B; default: those of A, if --b is given"
    )
    add(command, "--a", help="a setting of the models of A; may be repeated")
    command.add_argument(
        "--b", action="append", metavar="KEY=VALUE", help="a setting of the models of B; may be repeated"
    )
    add(command, "--npz", help="what the first stage takes, an array for each name")
    add(command, "--calibration", help="as --npz, for static int8; default: that of --npz")
    add(command, "--budget", default=30.0)
    add(command, "--seed", "--output", "--csv", "--no-history", "--quiet", "--allow-fallback", "--fail-if")


def run(arguments: argparse.Namespace) -> int:
    """Measure, print the sentences or the table, and save."""
    from workbench.core.config import Config
    from workbench.features.pipelines.call import measure_pipelines

    pipelines = [_pipeline(arguments.stages, Config.from_assignments(arguments.a or []))]
    if arguments.against or arguments.b:
        stages = arguments.against or arguments.stages
        pipelines.append(_pipeline(stages, Config.from_assignments(arguments.b or [])))
    result = measure_pipelines(*pipelines, inputs=arguments.npz, seed=arguments.seed, **common(arguments))
    print_sentences(arguments, result)
    return save(result, arguments, of_pipelines(result.record, arguments.fail_if))


def _pipeline(stages: list[str], config: Config) -> Pipeline:
    """Return the pipeline of these texts; its models have the config."""
    from workbench.features.pipelines.pipeline import Pipeline, is_function_text

    return Pipeline([stage if is_function_text(stage) else (stage, config) for stage in stages])
