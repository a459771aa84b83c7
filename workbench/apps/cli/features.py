"""A command for each feature: what it takes follows from the signature of its call, and from `FEATURE`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

from workbench.apps.cli.commands import CommandParser, Commands, add, add_command, result_file
from workbench.apps.cli.options import arguments_of, further_parameters, parameters_of, read
from workbench.apps.cli.showing import print_result
from workbench.apps.cli.subject import save, shows_progress
from workbench.core.bundle.atomic import write_atomically
from workbench.core.feature import Feature, function_at
from workbench.core.measure.gates import Gate
from workbench.core.text import printable
from workbench.features.base.registry import KINDS


def add_to(commands: Commands) -> None:
    """Add the commands; each gets its options when it is chosen."""
    for offer in KINDS.commands:
        command = add_command(commands, offer.command_name, partial(run, offer.name), offer.does)
        assert isinstance(command, CommandParser)
        command.fill = partial(add_options, kind=offer.name)


def add_options(command: argparse.ArgumentParser, kind: str) -> None:
    """Add an option for each argument of the call that a text can say, and for what is made of its result."""
    feature = KINDS.named(kind)
    if feature.command.example:
        command.epilog = f"Example: {command.prog} {feature.command.example}"
    ends = map(further_parameters, (feature.gates, feature.command.rows))
    for parameters in (parameters_of(feature), *ends):
        for argument in arguments_of(feature, parameters).values():
            argument.add(command)
    add(command, *([] if "file" in parameters_of(feature) else ["--output"]), "--csv")
    if hasattr(feature.result, "report"):
        hint = "write what an issue needs, in Markdown"
        command.add_argument("--report", type=result_file, metavar="FILE", help=hint)
    if feature.keeps_accuracy:
        add(command, "--accuracy")


def run(kind: str, given: argparse.Namespace) -> int:
    """Make the call, print what came of it, and save it."""
    from workbench.core.measure.compare_request import check_seed

    if "seed" in given:
        check_seed(given.seed)
    feature = KINDS.named(kind)
    result = _called(feature, given)
    if feature.keeps_accuracy and given.accuracy:
        made = result.accuracy(progress=shows_progress(given.quiet))
        for accuracy in made.values() if isinstance(made, Mapping) else [made]:
            print(printable(str(accuracy), keep="\n"), file=sys.stderr)
    if getattr(given, "report", None) is not None:
        write_atomically(given.report, result.report().encode())
    rows = feature.command.rows
    frame = rows and rows(result, **read(feature, further_parameters(rows), given))
    print_result(given, result, frame, feature.command.text)
    if "file" in parameters_of(feature) and not given.accuracy:
        given.output = None  # the call has written it, after each of its parts
    return save(result, given, gates_of(feature, result, given))


def _called(feature: Feature, given: argparse.Namespace) -> Any:
    """Make the call; its subject and a list of any length are given by their places."""
    parameters = parameters_of(feature)
    keywords, places = read(feature, parameters, given), []
    for name, parameter in parameters.items():
        if parameter.kind is parameter.VAR_POSITIONAL:
            places += keywords.pop(name)
        elif name in ("model", "subject") and parameter.kind is not parameter.KEYWORD_ONLY:
            places.append(keywords.pop(name, None))
    return function_at(feature.command.call or feature.call)(*places, **keywords)


def gates_of(feature: Feature, result: Any, given: argparse.Namespace) -> Iterable[Gate]:
    """Return the checks of a result, with the options that they take."""
    if feature.gates is None:
        return ()
    return feature.gates(result.record, **read(feature, further_parameters(feature.gates), given))
