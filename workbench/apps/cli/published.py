"""`workbench published`: every published file of a model, judged against its float32 file."""

from __future__ import annotations

import argparse

from workbench.apps.cli.commands import Commands, add, add_command
from workbench.apps.cli.comparing import report
from workbench.apps.cli.subject import common, read_inputs

EXAMPLE = "workbench published models/bert --fail-if differs"


def add_to(commands: Commands) -> None:
    """Add the command and its options."""
    what = "judge every published file of a model against its float32 file"
    command = add_command(commands, "published", run, what, EXAMPLE)
    command.add_argument("source", help="a folder of .onnx files, or hf://org/repo")
    command.add_argument("--baseline", metavar="FILE", help="the float32 file, if its name does not say so")
    add(command, "--dim", "--npz", "--seed", "--budget", "--output", "--no-history")
    add(command, "--fail-if", "--json", "--quiet")


def run(arguments: argparse.Namespace) -> int:
    """Compare the files, print the verdicts and save them."""
    from workbench.core.models import load
    from workbench.features.compare.published import baseline_of, files_of, published

    files = files_of(arguments.source)
    first = load(files[baseline_of(files, arguments.baseline)])
    options = common(arguments)
    result = published(
        arguments.source, baseline=arguments.baseline, inputs=read_inputs(arguments, first),
        seed=arguments.seed, **{name: options[name] for name in ("budget_s", "progress", "keep")},
    )  # fmt: skip
    return report(arguments, result)
