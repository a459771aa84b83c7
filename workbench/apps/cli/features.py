"""A command for each feature that has none by hand: its options follow from the signature of its call."""

from __future__ import annotations

import argparse
import inspect
import os
import sys
from functools import partial
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from workbench.apps.cli.commands import CommandParser, Commands, add, add_command, result_file
from workbench.apps.cli.comparing import add_configs, read_candidates
from workbench.apps.cli.limits import add_limits, limits_of
from workbench.apps.cli.showing import opened, print_result
from workbench.apps.cli.subject import common, read_inputs, save, shows_progress
from workbench.core.bundle.goal import Goal
from workbench.core.errors import InputError
from workbench.core.form import Field
from workbench.features.base.registry import KINDS

_SHARED = {  # arguments of several calls, as the options that all commands have for them
    "inputs": ("--npz", "--dim"),
    "seed": ("--seed",),
    "data": ("--data",),
    "calibration": ("--calibration",),
    "budget_s": ("--budget",),
    "pacing_s": ("--pacing",),
    "allow_fallback": ("--allow-fallback",),
    "progress": ("--quiet",),
    "keep": ("--no-history",),
    "smallest_effect": ("--smallest-effect",),
}
SETTING = {"action": "append", "metavar": "KEY=VALUE"}


def add_to(commands: Commands) -> None:
    """Add the commands; each gets its options when it is chosen."""
    for offer in KINDS.commands:
        if offer.command not in commands.choices:
            command = add_command(commands, offer.command, partial(run, offer.name), offer.does)
            assert isinstance(command, CommandParser)
            command.fill = partial(add_options, kind=offer.name)


def parameters_of(kind: str) -> dict[str, inspect.Parameter]:
    """Return what the call of a feature takes, by name."""
    return dict(inspect.signature(KINDS.named(kind).function, eval_str=True).parameters)


def add_options(command: argparse.ArgumentParser, kind: str) -> None:
    """Add an option for each argument of the call that a text can say."""
    feature, parameters, fields = KINDS.named(kind), parameters_of(kind), _fields(kind)
    hints = {field.argument: field.hint for field in feature.form}
    for name, parameter in parameters.items():
        if name in _SHARED:
            add(command, *_SHARED[name], **_default(name, parameter))
            if name == "inputs" and "seed" not in parameters:
                add(command, "--seed")
        elif name == "model" and parameter.kind is not parameter.KEYWORD_ONLY:
            add(command, "model")
        elif name == "subject":
            command.add_argument("subject", help="a model, or a saved comparison (.ortbench)")
        elif parameter.kind is parameter.VAR_POSITIONAL:
            add_configs(command)
        elif name == "config":
            add(command, "--a")
        elif name == "limits" and Goal in get_args(parameter.annotation):
            add_limits(command)
        elif name in fields:
            _add_field(command, fields[name])
        else:
            _add_option(command, name, parameter, hints.get(name, ""))
    add(command, "--output", "--csv")
    if hasattr(feature.result, "report"):
        hint = "write what an issue needs, in Markdown"
        command.add_argument("--report", type=result_file, metavar="FILE", help=hint)
    if feature.gates is not None:
        add(command, "--fail-if")
    if feature.keeps_accuracy:
        add(command, "--accuracy")


def _fields(kind: str) -> dict[str, Field]:
    """Return the fields of its form whose names and values the signature cannot say."""
    return {field.argument: field for field in KINDS.named(kind).form if field.has_axes}


def _add_field(command: argparse.ArgumentParser, field: Field) -> None:
    """Add the option of an argument that the panels ask for with axes: one a call of the option."""
    command.add_argument(
        f"--{field.label}",
        dest=field.argument,
        action="append",
        default=[],
        metavar="NAME=V,V",
        help=f"{field.hint}. May be repeated: --{field.label} {field.example_for().replace(' ', '')}",
    )


def _default(name: str, parameter: inspect.Parameter) -> dict[str, Any]:
    if name != "budget_s" or parameter.default is None:
        return {}
    return {"default": parameter.default, "help": f"seconds that it may take; default {parameter.default:g}"}


def _add_option(command: argparse.ArgumentParser, name: str, parameter: inspect.Parameter, hint: str) -> None:
    """Add an option for a number, a text, a choice, a switch, a list or a config; leave out anything else."""
    how, option, default = _reading(parameter.annotation), f"--{name.replace('_', '-')}", parameter.default
    if how is None:
        return
    default_hint = "" if default in (None, False, (), inspect.Parameter.empty) else f"default {default}"
    texts = [hint[:1].lower() + hint[1:], default_hint.replace("%", "%%"), how.get("help")]
    needed = {"required": True} if default is inspect.Parameter.empty else {"default": default or None}
    command.add_argument(option, **needed, **{**how, "help": "; ".join(filter(None, texts)) or None})


def _reading(annotation: Any) -> dict[str, Any] | None:
    """Return how argparse reads a value of this type; None where it cannot."""
    from workbench.core.config import Config
    from workbench.core.models import Model

    for member in [annotation, *get_args(annotation)]:
        if member is bool:
            return {"action": argparse.BooleanOptionalAction}
        if member in (int, float, str):
            return {"type": member, "metavar": "TEXT" if member is str else "N"}
        if member is Config:
            return {**SETTING, "help": "a setting; may be repeated"}
        if member is Model:
            return {"metavar": "MODEL", "help": "the model that was measured"}
        if get_origin(member) is Literal:
            return {"choices": [choice for choice in get_args(member) if choice is not None]}
        if get_args(member) == (int,):
            return {"action": "append", "type": int, "metavar": "N", "help": "may be repeated"}
        in_a_list = member is not annotation and os.PathLike[str] in get_args(member)
        if get_args(member) == (str,) or in_a_list:
            return {"action": "append", "metavar": "NAME", "help": "may be repeated"}
    return None


def _subject(given: str, model: str | None) -> Any:
    """Open a model, or a saved comparison, which needs its model beside it."""
    from workbench.core.models import load

    if Path(given).suffix != ".ortbench":
        return load(given)
    if model is None:
        raise InputError(f"{given} does not hold its model", "name it: --model MODEL")
    return opened(given)


def run(kind: str, arguments: argparse.Namespace) -> int:
    """Make the call, print what came of it, and save it."""
    from workbench.core.bundle.atomic import write_atomically
    from workbench.core.config import Config
    from workbench.core.measure.compare_request import check_seed
    from workbench.core.models import load

    if "seed" in arguments:
        check_seed(arguments.seed)
    first: list[Any] = []
    options = common(arguments)
    feature, parameters, fields = KINDS.named(kind), parameters_of(kind), _fields(kind)
    for name, parameter in parameters.items():
        given: Any = getattr(arguments, name, None)
        if name == "model" and parameter.kind is not parameter.KEYWORD_ONLY:
            first = [load(given)]
        elif name == "subject":
            first = [_subject(given, arguments.model)]
        elif parameter.kind is parameter.VAR_POSITIONAL:
            first += read_candidates(arguments)
        elif name == "config":
            if arguments.a or parameter.default is parameter.empty:
                options["config"] = Config.from_assignments(arguments.a or [])
        elif name == "limits" and Goal in get_args(parameter.annotation):
            options["limits"] = limits_of(arguments)
        elif name in fields:
            if given:
                options[name] = fields[name].value(";".join(given))
        elif name == "inputs":
            seed = 0 if "seed" in parameters else arguments.seed
            if arguments.npz or arguments.dim or seed:
                model = load(arguments.model or arguments.subject)
                options["inputs"] = read_inputs(arguments, model)
        elif name not in options and given is not None:
            is_config = Config in (parameter.annotation, *get_args(parameter.annotation))
            options[name] = Config.from_assignments(given) if is_config else given
    result = feature.function(*first, **options)
    if feature.keeps_accuracy and arguments.accuracy:
        print(result.accuracy(progress=shows_progress(arguments)), file=sys.stderr)
    if getattr(arguments, "report", None) is not None:
        write_atomically(arguments.report, result.report().encode())
    print_result(arguments, result, result.to_frame())
    return save(result, arguments, feature.gates(result.record, arguments.fail_if) if feature.gates else ())
