"""`workbench compare-versions`: one model on several versions of ONNX Runtime."""

from __future__ import annotations

import argparse

from workbench.apps.cli.commands import Commands, add, add_command, add_subject, result_file
from workbench.apps.cli.showing import print_sentences
from workbench.apps.cli.subject import common, save, subject_of
from workbench.core.measure.gates import of_comparison

_EXAMPLE = "workbench compare-versions bert-base --environment 1.27.0 --environment ~/ort120"


def add_to(commands: Commands) -> None:
    """Add the command and its options."""
    text = "say what changes with the version of ONNX Runtime"
    command = add_command(commands, "compare-versions", run, text, _EXAMPLE)
    add_subject(command)
    command.add_argument(
        "--environment", action="append", required=True, metavar="PATH",
        help="a version, an interpreter or a virtual environment, may be repeated; "
        "one alone is compared with this one",
    )  # fmt: skip
    command.add_argument(
        "--bisect", action="store_true", help="find the release in which outputs or latency changed"
    )
    command.add_argument(
        "--report", type=result_file, metavar="FILE", help="write what an issue needs, in Markdown"
    )
    add(command, "--npz", "--calibration", "--budget", "--csv", "--no-history", "--quiet")
    add(command, "--fail-if")


def run(arguments: argparse.Namespace) -> int:
    """Compare, print what changed, and save."""
    from workbench.core.bundle.atomic import write_atomically
    from workbench.features.versions import compare_versions

    model, config, inputs = subject_of(arguments)
    result = compare_versions(
        model, arguments.environment, config, inputs=inputs, bisect=arguments.bisect, **common(arguments)
    )
    if arguments.report is not None:
        write_atomically(arguments.report, result.report().encode())
    print_sentences(arguments, result)
    return save(result, arguments, of_comparison(result.record.comparison, arguments.fail_if))
