"""The pages of the site that are written from the code: settings, provider options, commands, API."""

from __future__ import annotations

import argparse
import inspect
import re
from collections.abc import Callable, Iterable
from html import escape
from typing import Any

import workbench as wb
from workbench.apps.cli import parser
from workbench.apps.cli.commands import CommandParser
from workbench.core.config import KNOBS
from workbench.core.config.catalogue import RUN, SESSION, catalogue
from workbench.core.config.option import Option
from workbench.features.base.result import Result

QUOTED = re.compile(r""": (['"])(.*?)\1( =|$)""")  # a type that is written as a text
FUNCTION = re.compile(r"<function .*? at 0x[0-9a-f]+>")


def settings() -> str:
    """Return a section for each field of `wb.Config`, then the entries of a session and of a run."""
    sections = [
        "# Settings",
        "Each is a field of `wb.Config`, a key of `--a` and `--b`, and a row of the panels.",
    ]
    for knob in KNOBS:
        choices = f"Values: {', '.join(f'`{choice}`' for choice in knob.choices)}." if knob.choices else ""
        sections += [f"## {knob.field}", _text(knob.help), choices, f"When to turn it: {_text(knob.when)}"]
    sections += ["## Session entries", "`wb.Config(session_entries={…})` takes these.", _options(SESSION)]
    sections += ["## Run entries", "`wb.Config(run_entries={…})` takes these.", _options(RUN)]
    return _page(sections)


def provider_options() -> str:
    """Return a section for each execution provider of the catalogue."""
    sections = ["# Provider options", 'An option goes into `wb.Provider("cuda", {"use_tf32": False})`.']
    for card in catalogue().providers:
        sections += [f"## {card.alias}", f"`{card.name}`: {_text(card.hardware)} {_text(card.platforms)}"]
        sections += [f"Install: {_text(card.wheel)}", _text(card.strengths), _text(card.limits)]
        sections += [_options(card.name)] if catalogue().options(card.name) else ["It has no options."]
    return _page(sections)


def commands() -> str:
    """Return a section for each command with its options."""
    sections = ["# Options of the commands"]
    (group,) = (action for action in parser()._actions if isinstance(action, argparse._SubParsersAction))
    does = {action.dest: action.help or "" for action in group._choices_actions}
    for name, command in group.choices.items():
        assert isinstance(command, CommandParser)
        command.complete()
        sections += [f"## {name}", _text(does[name])]
        rows = [
            (" ".join([*action.option_strings, _placeholder(action)]).strip(), _help(command, action))
            for action in command._actions
            if not isinstance(action, argparse._HelpAction) and action.help != argparse.SUPPRESS
        ]
        sections.append(_table(("option", "meaning"), ((f"`{option}`", text) for option, text in rows)))
    return _page(sections)


def api() -> str:
    """Return a section for each public name: its signature, its docstring, its methods."""
    sections = ["# API", "Everything is called as `wb.name` after `import workbench as wb`."]
    for name, thing in [*((name, getattr(wb, name)) for name in wb.__all__), ("Result", Result)]:
        members: dict[str, Any] = {}
        if inspect.ismodule(thing):
            members = {key: getattr(thing, key) for key in thing.__all__}
        elif inspect.isclass(thing) and not issubclass(thing, Exception):
            members = {key: member for key, member in inspect.getmembers(thing) if _is_own(thing, key)}
        sections += [f"## {name}", _signature(name, thing), _docstring(thing)]
        if inspect.isclass(thing) and issubclass(thing, Result) and thing is not Result:
            sections.append("It also has what [every result](#result) has.")
        for key, member in members.items():
            sections += [f"### {name}.{key}", _signature(key, member), _docstring(member)]
    return _page(sections)


PAGES: dict[str, Callable[[], str]] = {
    "settings": settings, "provider-options": provider_options, "commands": commands, "api": api,
}  # fmt: skip


def _is_own(owner: type, name: str) -> bool:
    """Is this a documented method or property, other than those that all results have?"""
    member = getattr(owner, name)
    everywhere = owner is not Result and getattr(Result, name, None) is not None
    method = inspect.isroutine(member) or isinstance(member, property)
    return method and not name.startswith("_") and not everywhere and bool(member.__doc__)


def _signature(name: str, thing: Any) -> str:
    if not callable(thing) or (inspect.isclass(thing) and issubclass(thing, Exception | Result)):
        return ""
    parameters = list(inspect.signature(thing).parameters.values())
    shown = [QUOTED.sub(r": \2\3", str(parameter)) for parameter in parameters if parameter.name != "self"]
    call = f"{name}({', '.join(shown)})"
    if len(call) > 90:
        call = f"{name}(\n    " + ",\n    ".join(shown) + ",\n)"
    return f"```python\n{FUNCTION.sub('...', call)}\n```"


def _docstring(thing: object) -> str:
    """Return the docstring, its examples as code."""
    prose, mark, examples = (inspect.getdoc(thing) or "").partition(">>> ")
    return _text(prose) + (f"\n\n```python\n{mark}{examples.rstrip()}\n```" if examples else "")


def _options(owner: str) -> str:
    return _table(("option", "values", "default", "meaning"), map(_option, catalogue().options(owner)))


def _option(option: Option) -> tuple[str, ...]:
    values = ", ".join(option.choices) or option.type
    default = "" if option.default is None else f"`{option.default}`" if option.default else "empty"
    return f"`{option.name}`", _text(values), default, _text(option.instead or option.help)


def _placeholder(action: argparse.Action) -> str:
    if action.nargs == 0:
        return ""
    return str(action.metavar or (action.dest.upper() if action.option_strings else action.dest))


def _help(command: argparse.ArgumentParser, action: argparse.Action) -> str:
    return _text(command._get_formatter()._expand_help(action) if action.help else "")


def _table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    lines = [list(heads), *(list(row) for row in rows)]
    lines.insert(1, ["---"] * len(lines[0]))
    cells = [[cell.replace("|", "\\|").replace("\n", " ") for cell in line] for line in lines]
    return "\n".join(f"| {' | '.join(line)} |" for line in cells)


def _text(text: str) -> str:
    """Return words of the code for Markdown: no tag and no emphasis but code."""
    parts = re.split(r"(`[^`]*`)", text.strip())
    return "".join(
        part if part.startswith("`") else escape(part, quote=False).replace("*", "\\*").replace("_", "\\_")
        for part in parts
    )


def _page(sections: Iterable[str]) -> str:
    return "\n\n".join(filter(None, sections)) + "\n"
