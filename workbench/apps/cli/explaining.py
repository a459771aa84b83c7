"""`workbench explain` and `profile`: what ORT makes of a config, and where time goes."""

from __future__ import annotations

import argparse

from workbench.apps.cli.commands import Commands, add, add_command, add_subject, result_file
from workbench.apps.cli.showing import print_result
from workbench.apps.cli.subject import common, model_and_config, save, subject_of


def add_to(commands: Commands) -> None:
    """Add the commands and their options."""
    text = "say what ONNX Runtime does to the graph: passes, what became of each node, where nodes run"
    example = "workbench explain bert-base --a level=extended --csv"
    explain = add_command(commands, "explain", run_explain, text, example)
    explain.add_argument(
        "--passes", choices=("auto", "on", "off"), default="auto", help="capture the graph after each pass"
    )
    explain.add_argument("--profile", action="store_true", help="run it, too, and put times to nodes")

    text = "say where the time of a run goes, with the profiler of ONNX Runtime"
    example = "workbench profile bert-base --by node --keep-trace trace.json"
    profile = add_command(commands, "profile", run_profile, text, example)
    add(profile, "--budget", default=1.0, help="seconds of runs; default 1")
    profile.add_argument(
        "--by",
        choices=("op_type", "node", "scope", "provider", "thread"),
        default="op_type",
        help="a row for each of these; default op_type",
    )
    profile.add_argument(
        "--keep-trace", metavar="FILE", type=result_file, help="keep the file that ORT wrote"
    )

    for command in (explain, profile):
        add_subject(command)
        add(command, "--npz", "--calibration", "--csv", "--no-history")


def run_explain(arguments: argparse.Namespace) -> int:
    """Print the account of the nodes and a row for each of them."""
    from workbench.features.explain.calls import explain

    needs_inputs = arguments.profile or arguments.npz or arguments.dim
    model, config, inputs = subject_of(arguments) if needs_inputs else (*model_and_config(arguments), None)
    result = explain(
        model,
        config,
        profile=arguments.profile,
        inputs=inputs,
        passes={"on": True, "off": False}.get(arguments.passes, "auto"),
        **common(arguments),
    )
    print_result(arguments, result, result.to_frame())
    return save(result, arguments)


def run_profile(arguments: argparse.Namespace) -> int:
    """Print the times by operator, or by what the user named."""
    from workbench.features.profile.calls import profile

    model, config, inputs = subject_of(arguments)
    result = profile(model, config, inputs=inputs, keep_trace=arguments.keep_trace, **common(arguments))
    frame = result.to_frame() if arguments.by == "node" else result.by(arguments.by)
    print_result(arguments, result, frame)
    return save(result, arguments)
