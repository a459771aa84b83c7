"""`workbench findings` and `workbench improve`: the losses under a config, and their fixes."""

from __future__ import annotations

import argparse
import sys

from workbench.apps.cli.commands import Commands, add, add_command, add_subject
from workbench.apps.cli.showing import print_sentences
from workbench.apps.cli.subject import common, save, subject_of


def add_to(commands: Commands) -> None:
    """Add both commands and their options."""
    text = "say what costs time or memory, and what would fix it"
    findings = add_command(commands, "findings", run_findings, text)
    add_subject(findings)
    add(findings, "--data", "--calibration", "--csv")
    text = "try the fixes one after the other and keep what helps"
    improve = add_command(commands, "improve", run_improve, text)
    add_subject(improve)
    add(improve, "--budget", default=180.0)
    add(improve, "--max-accuracy-drop", "--data", "--calibration", "--quiet", "--csv")


def run_findings(arguments: argparse.Namespace) -> int:
    """Check every rule and print the findings."""
    from workbench.features.findings.calls import findings

    model, config, inputs = subject_of(arguments)
    result = findings(model, config, inputs=inputs, data=arguments.data, calibration=arguments.calibration)
    print_sentences(arguments, result)
    return save(result, arguments)


def run_improve(arguments: argparse.Namespace) -> int:
    """Try fixes, keep the ones that help, print the steps and the final config."""
    from workbench.features.findings.calls import improve

    model, config, inputs = subject_of(arguments)
    result = improve(
        model,
        config,
        max_accuracy_drop=arguments.max_accuracy_drop,
        data=arguments.data,
        inputs=inputs,
        seed=arguments.seed,
        **common(arguments),
        on_step=lambda step: print(step, file=sys.stderr),
    )
    print_sentences(arguments, result)
    if not (arguments.json or arguments.csv):
        print(f"config: {result.config!r}")
    return save(result, arguments)
