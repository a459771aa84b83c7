"""The arguments of a call as options of a command."""

from __future__ import annotations

import argparse
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias, get_args, get_origin

from workbench.apps.cli.commands import add
from workbench.apps.cli.configs import add_configs, add_files, read_configs, read_files, read_subjects
from workbench.apps.cli.limits import add_limits, limits_of
from workbench.apps.cli.readings import LISTS, Once, members, reading_of
from workbench.apps.cli.showing import opened
from workbench.apps.cli.subject import read_inputs, shows_progress
from workbench.core.bundle.goal import Goal
from workbench.core.command import Command
from workbench.core.errors import InputError
from workbench.core.feature import Feature, function_at
from workbench.core.form import Field

_SHARED = {  # argument → the option that all commands have for it
    "seed": "--seed",
    "data": "--data",
    "calibration": "--calibration",
    "budget_s": "--budget",
    "pacing_s": "--pacing",
    "max_p99_s": "--max-p99",
    "allow_fallback": "--allow-fallback",
    "progress": "--quiet",
    "keep": "--no-history",
    "file": "--output",
    "smallest_effect": "--smallest-effect",
    "tolerance": "--tolerance",
    "least_sqnr_db": "--least-sqnr-db",
    "fail_if": "--fail-if",
    "max_accuracy_drop": "--max-accuracy-drop",
}
_READ: Mapping[str, Callable[[Any], Any]] = {  # where the option says it otherwise than the argument
    "max_p99_s": lambda given_ms: given_ms / 1e3,
    "progress": shows_progress,
    "keep": lambda is_left_out: not is_left_out,
}
_UNITS = {"_s": "S", "_hz": "HZ"}  # at the end of an argument's name

Parameters: TypeAlias = Mapping[str, inspect.Parameter]


@dataclass(frozen=True, slots=True)
class Argument:
    """How one argument of a call is added to a command, and how its value is read."""

    add: Callable[[argparse.ArgumentParser], object]
    value: Callable[[argparse.Namespace], Any]  # None: the call has its default


def parameters_of(feature: Feature) -> Parameters:
    """Return what the command of a feature takes: what its own call does, then what the public one does."""
    taken = _signature(feature.function)
    if not feature.command.call:
        return taken
    own = _signature(function_at(feature.command.call))
    variadic = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return {**own, **{name: p for name, p in taken.items() if name not in own and p.kind not in variadic}}


def further_parameters(function: Callable[..., Any] | None) -> Parameters:
    """Return what a function takes after the result, or after its record."""
    return {} if function is None else dict([*_signature(function).items()][1:])


def _signature(function: Callable[..., Any]) -> Parameters:
    return inspect.signature(function, eval_str=True).parameters


def arguments_of(feature: Feature, parameters: Parameters) -> dict[str, Argument]:
    """Return the arguments that a text can say, by name."""
    made = {name: _argument(feature, parameter, parameters) for name, parameter in parameters.items()}
    return {name: argument for name, argument in made.items() if argument is not None}


def read(feature: Feature, parameters: Parameters, given: argparse.Namespace) -> dict[str, Any]:
    """Return the values of the parameters that were given, by name."""
    values = {name: argument.value(given) for name, argument in arguments_of(feature, parameters).items()}
    return {name: value for name, value in values.items() if value is not None}


def _argument(feature: Feature, parameter: inspect.Parameter, parameters: Parameters) -> Argument | None:
    """Return how an argument is written; None where no text can say it, or none should."""
    name, of_type = parameter.name, members(parameter.annotation)
    fields = {field.argument: field for field in feature.form}
    hint = feature.command.hints.get(name, "")
    if feature.command.names.get(name) == "" or parameter.kind is parameter.VAR_KEYWORD:
        return None
    if name in _SHARED:
        return _shared(parameter, hint)
    if name == "inputs":
        return _inputs(parameters, hint)
    if name == "model" and parameter.kind is not parameter.KEYWORD_ONLY:
        return _model(parameter)
    if name == "subject":
        return _subject()
    if _are_configs(parameter):
        return _configs(has_files=any(get_origin(member) is tuple for member in of_type))
    if Goal in of_type:
        return Argument(add_limits, limits_of)
    if name in fields and fields[name].has_axes:
        return _axes(fields[name])
    if name in fields and not hint:
        hint = fields[name].hint[:1].lower() + fields[name].hint[1:]
    option = feature.command.names.get(name, "a" if name == "config" else "")
    return _plain(parameter, hint, option, feature.command)


def _are_configs(parameter: inspect.Parameter) -> bool:
    from workbench.core.config import Config

    annotation = parameter.annotation
    is_list = get_origin(annotation) in LISTS and get_args(annotation) == (Config,)
    return is_list or (parameter.kind is parameter.VAR_POSITIONAL and Config in members(annotation))


def _configs(*, has_files: bool) -> Argument:
    """Return the configs by their letters, or further model files with one each."""

    def add_options(command: argparse.ArgumentParser) -> None:
        if has_files:
            add_files(command)
        add_configs(command)

    return Argument(add_options, read_subjects if has_files else read_configs)


def _shared(parameter: inspect.Parameter, hint: str) -> Argument:
    """Return an argument that several calls have, as all commands have it."""
    name, default = parameter.name, parameter.default
    option, read = _SHARED[name], _READ.get(name)
    changes: dict[str, Any] = {"help": hint.replace("%", "%%")} if hint else {}
    if name == "budget_s" and default is not None:
        text = hint or "seconds that it may take"
        changes = {"default": default, "help": f"{text}; default {default:g}"}

    def value(given: argparse.Namespace) -> Any:
        read_value = getattr(given, option.removeprefix("--").replace("-", "_"))
        return read_value if read is None or read_value is None else read(read_value)

    return Argument(lambda command: add(command, option, **changes), value)


def _model(parameter: inspect.Parameter) -> Argument:
    """Return the model: its name, with a config where further files stand behind it."""
    changes = {} if parameter.default is parameter.empty else {"nargs": "?"}

    def value(given: argparse.Namespace) -> Any:
        return next(iter(read_files(given)), given.model)

    return Argument(lambda command: add(command, "model", **changes), value)


def _subject() -> Argument:
    """Return what is a model, or a saved comparison, which needs its model beside it."""

    def value(given: argparse.Namespace) -> Any:
        if Path(given.subject).suffix != ".ortbench":
            return given.subject
        result = opened(given.subject)
        if given.model is None:
            raise InputError(f"{given.subject} does not hold its model", "name it: --model MODEL")
        return result

    text = "a model, or a saved comparison (.ortbench)"
    return Argument(lambda command: command.add_argument("subject", help=text), value)


def _inputs(parameters: Parameters, hint: str) -> Argument:
    """Return the inputs: a file with arrays, or sizes and a seed where they are drawn for one model."""
    has_model, has_seed = bool({"model", "subject"} & {*parameters}), "seed" in parameters
    drawn = [*(["--dim"] if has_model else []), *([] if has_seed else ["--seed"])]

    def add_options(command: argparse.ArgumentParser) -> None:
        add(command, "--npz", **({"help": hint} if hint else {}))
        add(command, *drawn)

    def value(given: argparse.Namespace) -> Any:
        if not has_model or not (given.dim or (given.seed and not has_seed)):
            return given.npz
        model = vars(given).get("subject") or given.model
        if model is None:
            raise InputError(f"{drawn[0]} is for a model, and none was given", "name it, or leave that out")
        return read_inputs(given, model)

    return Argument(add_options, value)


def _axes(field: Field) -> Argument:
    """Return an argument that the panels ask for with axes: one a call of the option."""

    def add_option(command: argparse.ArgumentParser) -> None:
        example = f"--{field.label} {field.example_for().replace(' ', '')}"
        command.add_argument(
            f"--{field.label}",
            dest=field.argument,
            action="append",
            default=[],
            metavar="NAME=V,V",
            help=f"{field.hint}. May be repeated: {example}",
        )

    def value(given: argparse.Namespace) -> Any:
        texts = getattr(given, field.argument)
        return field.value(";".join(texts)) if texts else None

    return Argument(add_option, value)


def _plain(parameter: inspect.Parameter, hint: str, option: str, command: Command) -> Argument | None:
    """Return an argument whose kind of option follows from its type alone."""
    reading, name = reading_of(parameter), parameter.name
    if reading is None:
        return None
    once = {"action": Once, "help": ""} if name in command.once else {}
    reading = replace(reading, keywords=reading.keywords | once)
    unit = next((unit for unit in _UNITS if name.endswith(unit)), "")
    written = option or name.removesuffix(unit).replace("_", "-")
    keywords = {
        **reading.keywords,
        "help": _help(parameter, hint or reading.hint, reading.keywords.get("help", "")),
    }
    place = name if reading.is_positional else f"--{written}"
    if unit:
        keywords["metavar"] = _UNITS[unit]
    if reading.is_positional:
        keywords["metavar"] = written.removesuffix("s")
    else:
        keywords["required"] = parameter.default is parameter.empty and "default" not in keywords

    def value(given: argparse.Namespace) -> Any:
        text = getattr(given, place.removeprefix("--").replace("-", "_"))
        return None if text is None else reading.convert(text)

    return Argument(lambda command: command.add_argument(place, **keywords), value)


def _help(parameter: inspect.Parameter, hint: str, of_kind: str) -> str | None:
    """Return what is known of an argument: its hint, its default, how its kind is given."""
    default = parameter.default
    shows_default = default not in (None, False, (), parameter.empty) and "default" not in hint
    values = default if isinstance(default, tuple) else (default,)
    words = ", ".join(f"{value:g}" if isinstance(value, float) else str(value) for value in values)
    texts = (hint, f"default {words}" if shows_default else "", of_kind)
    return "; ".join(filter(None, texts)).replace("%", "%%") or None
