"""`workbench run`: a script of the user's own, whose sessions are compared with ORT's defaults."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING, Any

import workbench as wb
from workbench.apps.cli.commands import CommandParser, Commands, add, add_command
from workbench.apps.cli.features import gates_of
from workbench.apps.cli.showing import in_words
from workbench.apps.cli.subject import common
from workbench.core.errors import Cancelled, InputError, WorkbenchError
from workbench.core.measure.gates import OPEN, Gate, exit_code
from workbench.core.text import path_text, printable

if TYPE_CHECKING:
    from workbench.core.caught.record import CaughtSession

_EXAMPLE = "workbench run infer.py --fail-if slower -- --batch 8"


def add_to(commands: Commands) -> None:
    """Add the command and its options."""
    what = "run a script and compare each session that it makes with ORT's defaults"
    command = add_command(commands, "run", run, what, _EXAMPLE)
    assert isinstance(command, CommandParser)
    command.splits_rest = True
    command.add_argument("script", help="a Python script; what stands behind -- are its own arguments")
    add(command, "--budget", help="seconds that each comparison may take")
    add(command, "--seed", "--no-history", "--fail-if", "--json", "--quiet")


def run(arguments: argparse.Namespace) -> int:
    """Run the script, then measure each of its sessions, with its config as B and the defaults as A."""
    from workbench.core.caught.record import run_script

    sessions = run_script(arguments.script, arguments.rest)
    if not sessions:
        raise InputError(
            f"{path_text(arguments.script)} made no onnxruntime session in its own process",
            "name the script that makes the session; sessions of processes that it starts are not seen",
        )
    gates: list[Gate] = []
    answers = [_measured(arguments, session, gates) for session in sessions]
    if arguments.json:
        print(json.dumps(answers))
    return exit_code(gates)


def _measured(arguments: argparse.Namespace, session: CaughtSession, gates: list[Gate]) -> dict[str, Any]:
    """Print what became of a session, and return it for JSON; what was not measured is open."""
    if not arguments.json:
        print(printable(str(session)))
    answer: dict[str, Any] = {"session": session.to_json(), "result": None, "problem": None}
    try:
        answer["result"] = _result(arguments, session, gates)
    except Cancelled:
        raise
    except WorkbenchError as error:
        gates.append(Gate(session.name, OPEN, error.problem))
        answer["problem"] = error.problem
        print("workbench:", printable(str(error), keep="\n\t"), file=sys.stderr)
    return answer


def _result(arguments: argparse.Namespace, session: CaughtSession, gates: list[Gate]) -> dict[str, Any]:
    """Compare a session with the defaults; measure one alone that sets nothing."""
    from workbench.apps.cli.as_json import to_json

    if session.model is None:
        raise InputError("This session's model is not known", "see the notes on it")
    options = {"inputs": session.inputs, **common(arguments)}
    if session.config == wb.Config():
        result: Any = wb.measure(session.model, **options)
        text = f"It sets nothing, so it was measured alone.\n{result}"
    else:
        result = wb.compare(session.model, wb.Config(), session.config, **options)
        text = in_words(result)
    gates += gates_of(result.feature, result, arguments)
    if not arguments.json:
        print(text, end="\n\n")
    return to_json(result)
