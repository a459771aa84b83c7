"""The type of argparse's set of commands, and the options that several commands have."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from typing import Any, NoReturn, TypeAlias

from workbench.core.bundle.atomic import check_place
from workbench.core.errors import InputError
from workbench.core.measure.gates import REASONS
from workbench.core.text import did_you_mean, quoted

Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


class CommandParser(argparse.ArgumentParser):
    """A parser whose errors carry a fix. `fill` adds options when the command is chosen, not before."""

    fill: Callable[[argparse.ArgumentParser], None] | None = None
    splits_rest = False  # `rest` is what stands behind "--"

    def complete(self) -> None:
        """Add the options, once."""
        fill, self.fill = self.fill, None
        if fill is not None:
            fill(self)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Add the options, then read the arguments."""
        self.complete()
        if self.splits_rest:
            end = args.index("--") if "--" in args else len(args)
            self.set_defaults(rest=args[end + 1 :])
            args = args[:end]
        known, unknown = super().parse_known_args(args, namespace)
        if unknown:
            guess = did_you_mean(unknown[0].partition("=")[0], self._option_string_actions)
            several = any(action.nargs in ("*", "+") for action in self._get_positional_actions())
            is_name = several and not unknown[0].startswith("-")
            order = "Name all files side by side, before the options; " if is_name else ""
            self._refuse(f"takes no {quoted(unknown[0])} here", guess or order)
        return known, unknown

    def error(self, message: str) -> NoReturn:
        """Refuse what cannot be read."""
        self._refuse(message)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            name = "".join(action.option_strings[:1]) or "command"
            self._refuse(f"{quoted(value)} is no {name}", did_you_mean(value, map(str, action.choices)))

    def _refuse(self, problem: str, guess: str = "") -> NoReturn:
        command = self.prog.partition(" ")[2]
        fix = f"{guess}`{self.prog} --help` lists what it takes"
        raise InputError(f"{command}: {problem}" if command else problem, fix)


KEY_VALUE: dict[str, Any] = {
    "action": "append",
    "metavar": "KEY=VALUE",
    "help": "a setting; may be repeated",
}  # of a config


def percent(text: str) -> float:
    """Return the share written as `1%` or `0.01`."""
    number = text.strip().removesuffix("%")
    try:
        share = float(number) / (100 if "%" in text else 1)
    except ValueError:
        share = math.nan
    if not share >= 0:
        raise argparse.ArgumentTypeError(f"{quoted(text)} is no share: write 1% or 0.01")
    return share


def reasons(text: str) -> tuple[str, ...]:
    """Return the reasons of `slower,differs`."""
    names = tuple(name.strip() for name in text.split(","))
    if unknown := set(names) - set(REASONS):
        raise argparse.ArgumentTypeError(f"{min(unknown)!r} is none of {', '.join(REASONS)}")
    return names


def result_file(text: str) -> str:
    """Return the path of a file to write, if one can be written there: what is measured is not lost."""
    check_place(text)
    return text


def _flag(text: str) -> dict[str, Any]:
    return {"action": "store_true", "help": text}


_OPTIONS: dict[str, dict[str, Any]] = {
    "model": {"help": "a sample's name, a path, a URL or hf://org/repo/file.onnx"},
    "--a": KEY_VALUE,
    "--accuracy": _flag("keep the accuracy of each config with it, for `best --max-accuracy-drop`"),
    "--allow-fallback": _flag("measure a config also where no provider that it asks for takes a node"),
    "--budget": {"type": float, "metavar": "S", "help": "seconds that it may take"},
    "--calibration": {
        "metavar": "DATA",
        "help": "data on which static int8 measures its ranges: an .npz file, a folder of images, or random",
    },
    "--csv": _flag("print the table as CSV instead of text"),
    "--data": {"metavar": "FILE", "help": "labelled examples (.npz) for the accuracy"},
    "--dim": {"action": "append", "default": [], "metavar": "NAME=N", "help": "size of a symbolic axis"},
    "--fail-if": {
        "type": reasons,
        "default": (),
        "metavar": "REASONS",
        "help": "end with exit code 1 or 3 if a candidate is one of these: slower,differs,unknown",
    },
    "--json": _flag("print JSON, with every sample, instead of text"),
    "--least-sqnr-db": {
        "type": float,
        "metavar": "DB",
        "help": "signal over noise that outputs of other arithmetic must reach; default: as their precision",
    },
    "--max-accuracy-drop": {
        "type": percent,
        "metavar": "SHARE",
        "help": "try int8 too, with at most this loss",
    },
    "--max-p99": {"type": float, "metavar": "MS", "help": "99th percentile of the latency"},
    "--no-history": _flag("do not keep it in the history"),
    "--npz": {"metavar": "FILE", "help": "your own inputs, an array for each input's name"},
    "--output": {"type": result_file, "metavar": "FILE", "help": "save it as a bundle (.ortbench)"},
    "--pacing": {"type": float, "metavar": "S", "help": "pause before each run; default: none"},
    "--quiet": _flag("no progress bar"),
    "--seed": {"type": int, "default": 0, "help": "seed of random inputs"},
    "--smallest-effect": {
        "type": percent,
        "default": 0.01,
        "metavar": "SHARE",
        "help": "what counts; default 1%%",
    },
    "--tolerance": {
        "type": float,
        "metavar": "SHARE",
        "help": "how far outputs of the same arithmetic may differ; default 0.001",
    },
    "source": {"help": "a bundle (.ortbench), or the start of an id from `workbench history`"},
}
_SHORT = {"--output": ("-o",)}


def add_command(
    commands: Commands, name: str, run: Callable[..., int], text: str, example: str | None = None
) -> argparse.ArgumentParser:
    """Add a command that calls `run` with its arguments; `text` is its line in the help."""
    command = commands.add_parser(name, help=text, epilog=example and f"Example: {example}")
    command.set_defaults(run=run)
    return command


def add(command: argparse.ArgumentParser, *names: str, **changes: Any) -> None:
    """Add arguments that several commands have; `changes` are what differs in this one."""
    for name in names:
        if name == "--csv":  # what has a table has its rows as JSON
            forms = command.add_mutually_exclusive_group()
            forms.add_argument(name, **_OPTIONS[name])
            forms.add_argument("--json", action="store_true", help="print JSON instead of text")
        else:
            command.add_argument(*_SHORT.get(name, ()), name, **_OPTIONS[name] | changes)
