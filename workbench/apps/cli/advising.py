"""`workbench findings`: the losses under a config, and their fixes."""

from __future__ import annotations

import argparse

from workbench.apps.cli.commands import Commands, add, add_command, add_subject
from workbench.apps.cli.showing import print_sentences
from workbench.apps.cli.subject import save, subject_of


def add_to(commands: Commands) -> None:
    """Add the command and its options."""
    text = "say what costs time or memory, and what would fix it"
    findings = add_command(commands, "findings", run_findings, text)
    add_subject(findings)
    add(findings, "--data", "--calibration", "--csv")


def run_findings(arguments: argparse.Namespace) -> int:
    """Check every rule and print the findings."""
    from workbench.features.findings.result import findings

    model, config, inputs = subject_of(arguments)
    result = findings(model, config, inputs=inputs, data=arguments.data, calibration=arguments.calibration)
    print_sentences(arguments, result)
    return save(result, arguments)
