"""How the values of a type are written on the command line: one kind of option for each type."""

from __future__ import annotations

import argparse
import inspect
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

from workbench.apps.cli.commands import KEY_VALUE, result_file
from workbench.apps.cli.subject import read_dims, read_pairs
from workbench.core.errors import InputError
from workbench.core.form import numbers, whole_numbers
from workbench.core.text import quoted

LISTS = (Sequence, Iterable, tuple)
_ON_OFF = {"on": True, "off": False}
_REPEATED = {"action": "append", "help": "may be repeated"}


class Once(argparse.Action):
    """An option whose whole list is one value."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: str | None = None) -> None:
        if getattr(namespace, self.dest) is not None:
            problem = f"{option_string} was given twice, and all its numbers are one value"
            raise InputError(problem, f"give it once; `{parser.prog} --help` says what takes several")
        setattr(namespace, self.dest, values)


@dataclass(frozen=True, slots=True)
class Reading:
    """How argparse reads the values of a type, and what is made of what it read."""

    keywords: dict[str, Any]
    convert: Callable[[Any], Any] = lambda given: given
    is_positional: bool = False
    hint: str = ""  # where nobody says what the argument is


_PAIRS = {
    (str, str): Reading({"metavar": "OLD=NEW", **_REPEATED}, read_pairs),
    (str, int): Reading({"metavar": "NAME=N", **_REPEATED}, read_dims, hint="size of a symbolic axis"),
}


def reading_of(parameter: inspect.Parameter) -> Reading | None:
    """Return how the values of a parameter are read; None where no text can say them."""
    from workbench.core.config import Config
    from workbench.core.models import Model

    of_type = members(parameter.annotation)
    lists = [member for member in of_type if get_origin(member) in LISTS]
    items = [item for member in lists for item in members(get_args(member)[0])]
    if Config in of_type:
        absent: dict[str, Any] = {"default": []} if parameter.default is parameter.empty else {}
        return Reading({**KEY_VALUE, **_REPEATED, **absent}, Config.from_assignments, hint="a setting")
    if Model in of_type:
        return Reading({"metavar": "MODEL"}, hint="the model that was measured")
    if choices := [choice for member in (*of_type, *items) for choice in _choices(member)]:
        return _chosen([*dict.fromkeys(choices)], is_list=bool(items), has_switch=bool in of_type)
    if bool in of_type:
        return Reading({"action": argparse.BooleanOptionalAction})
    if items and (str in items or str not in of_type):
        return _listed(items, of_type, is_at_once=get_origin(lists[0]) is tuple)
    if parameter.kind is parameter.VAR_POSITIONAL and of_type == (str,):
        return Reading({"nargs": "+"}, is_positional=True)
    if set(of_type) == {str, os.PathLike[str]}:
        is_needed = parameter.default is parameter.empty
        return Reading({} if is_needed else {"type": result_file, "metavar": "FILE"}, is_positional=is_needed)
    if pairs := [reading for pair, reading in _PAIRS.items() if pair in map(get_args, of_type)]:
        return pairs[0]
    scalar = next((member for member in of_type if member in (int, float, str)), None)
    return scalar and Reading({"type": scalar, "metavar": "TEXT" if scalar is str else "N"})


def members(annotation: Any) -> tuple[Any, ...]:
    """Return the types of a union but None, or the one type."""
    is_union = get_origin(annotation) in (Union, UnionType)
    all_types = get_args(annotation) if is_union else (annotation,)
    return tuple(member for member in all_types if member is not type(None))


def _choices(annotation: Any) -> tuple[Any, ...]:
    return get_args(annotation) if get_origin(annotation) is Literal else ()


def _chosen(choices: list[Any], *, is_list: bool, has_switch: bool) -> Reading:
    """Return a choice, which may be one of several, or stand beside on and off."""
    if is_list:
        return Reading({"choices": choices, **_REPEATED})
    names = [*choices, *(_ON_OFF if has_switch else ())]
    return Reading({"choices": names}, lambda given: _ON_OFF.get(given, given))


def _listed(items: list[Any], of_type: tuple[Any, ...], *, is_at_once: bool) -> Reading | None:
    """Return a list: texts, or numbers with commas; a single value is no list where the type allows it."""

    def convert(values: list[Any]) -> Any:
        return values[0] if len(values) == 1 and type(values[0]) in of_type else values

    if {str, os.PathLike[str]} & {*items}:
        how = {"action": "extend", "nargs": "+"} if is_at_once else _REPEATED
        return Reading({"metavar": "NAME", **how}, convert)
    if not {int, float} & {*items}:
        return None
    read, what = (whole_numbers, "whole numbers: 1,2,4") if int in items else (numbers, "numbers: 1,2.5")

    def typed(text: str) -> list[Any]:
        try:
            return [*read(text)]
        except ValueError as error:
            raise argparse.ArgumentTypeError(f"{quoted(text)} is no list of {what}") from error

    return Reading({**_REPEATED, "action": "extend", "type": typed, "metavar": "N,N"}, convert)
