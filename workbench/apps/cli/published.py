"""`workbench published`: every published file of a model, judged against its float32 file."""

from __future__ import annotations

import argparse

from workbench.apps.cli.commands import Commands, add, add_command
from workbench.apps.cli.showing import print_result
from workbench.apps.cli.subject import common, read_inputs, save
from workbench.core.measure.gates import of_comparison

EXAMPLE = "workbench published models/bert --fail-if differs"


def add_to(commands: Commands) -> None:
    """Add the command and its options."""
    what = "judge every published file of a model against its float32 file"
    command = add_command(commands, "published", run, what, EXAMPLE)
    command.add_argument("source", help="a folder of .onnx files, or hf://org/repo")
    command.add_argument("--only", metavar="PATTERN", help="the files of one model: 'encoder*'")
    command.add_argument("--baseline", metavar="FILE", help="the float32 file, if its name does not say so")
    add(command, "--dim", "--npz", "--seed", "--budget", "--output", "--no-history")
    add(command, "--fail-if", "--csv", "--quiet")


def run(arguments: argparse.Namespace) -> int:
    """Compare the files, print the verdicts and save them."""
    from workbench.core.models import load
    from workbench.features.published import published
    from workbench.features.published.files import baseline_of, files_of

    files = files_of(arguments.source, arguments.only)
    first = load(files[baseline_of(files, arguments.baseline)])
    options = common(arguments)
    result = published(
        arguments.source, only=arguments.only, baseline=arguments.baseline,
        inputs=read_inputs(arguments, first), seed=arguments.seed,
        **{name: options[name] for name in ("budget_s", "progress", "keep")},
    )  # fmt: skip
    print_result(arguments, result, result.to_frame())
    return save(result, arguments, of_comparison(result.record.comparison, arguments.fail_if))
