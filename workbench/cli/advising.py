"""`workbench findings` and `workbench improve`: the losses under a config, and their fixes."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from workbench.cli.comparing import percent, read_dims

if TYPE_CHECKING:
    from workbench.cli.commands import Commands
    from workbench.config import Config
    from workbench.models import Inputs, Model


def add_to(commands: Commands) -> None:
    """Add both commands and their options."""
    findings = commands.add_parser("findings", help="say what costs time or memory, and what would fix it")
    _add_subject(findings)
    findings.set_defaults(run=run_findings)
    improve = commands.add_parser("improve", help="try the fixes one after the other and keep what helps")
    _add_subject(improve)
    improve.add_argument("--budget", type=float, default=180.0, metavar="S", help="seconds that it may take")
    improve.add_argument(
        "--max-accuracy-drop", type=percent, metavar="SHARE", help="try int8 too, with at most this loss"
    )
    improve.add_argument("--quiet", action="store_true", help="no progress bar")
    improve.set_defaults(run=run_improve)


def run_findings(arguments: argparse.Namespace) -> int:
    """Check every rule and print the findings."""
    from workbench.api.advising import findings

    model, config, inputs = _subject(arguments)
    result = findings(model, config, inputs=inputs)
    print(result)
    return _save(result, arguments)


def run_improve(arguments: argparse.Namespace) -> int:
    """Try fixes, keep the ones that help, print the steps and the final config."""
    from workbench.api.advising import improve

    model, config, inputs = _subject(arguments)
    result = improve(
        model,
        config,
        arguments.budget,
        max_accuracy_drop=arguments.max_accuracy_drop,
        inputs=inputs,
        progress=sys.stderr.isatty() and not arguments.quiet,
        on_step=lambda step: print(step, file=sys.stderr),
    )
    print(result)
    print(f"config: {result.config!r}")
    return _save(result, arguments)


def _add_subject(command: argparse.ArgumentParser) -> None:
    command.add_argument("model", help="a sample's name, a path, a URL or hf://org/repo/file.onnx")
    command.add_argument("--a", action="append", metavar="KEY=VALUE", help="a setting; may be repeated")
    command.add_argument(
        "--dim", action="append", default=[], metavar="NAME=N", help="size of a symbolic axis"
    )
    command.add_argument("--seed", type=int, default=0, help="seed of the inputs")
    command.add_argument("-o", "--output", metavar="FILE", help="save it as a bundle (.ortbench)")


def _subject(arguments: argparse.Namespace) -> tuple[Model, Config, Inputs]:
    from workbench.config import Config
    from workbench.models import load
    from workbench.models.generate import random_inputs

    model = load(arguments.model)
    config = Config.from_assignments(arguments.a or [])
    dims = read_dims(arguments.dim)
    return model, config, random_inputs(model.structure, model.name, arguments.seed, dims, model.usual_dims)


def _save(result: Any, arguments: argparse.Namespace) -> int:
    from workbench.text import path_text

    if arguments.output:
        print(f"saved {path_text(result.save(arguments.output))}", file=sys.stderr)
    return 0
