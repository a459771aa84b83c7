"""The command line: `workbench compare`, `measure`, `explain`, `profile`, `tune`, `show`, `lab`…"""

from __future__ import annotations

import argparse
import io
import os
import signal
import sys
from collections.abc import Sequence

from workbench._version import __version__
from workbench.apps.cli import (
    checking,
    choosing,
    cleaning,
    describing,
    exporting,
    features,
    lab,
    lessons,
    preparing,
    scripts,
    showing,
)
from workbench.apps.cli.commands import CommandParser
from workbench.core.errors import Cancelled, RunFailed, WorkbenchError, WorkerError
from workbench.core.measure.gates import OPEN
from workbench.core.text import printable

COMMANDS = (  # in the order of the help
    features, scripts, checking, preparing, showing, choosing, exporting, describing, cleaning, lab, lessons,
)  # fmt: skip

WRONG_USE = 2  # the exit code of argparse
INTERRUPTED = 128 + 2  # the shell's exit code after SIGINT
TERMINATED = 128 + 15
PIPE_CLOSED = 128 + 13  # as of a program that SIGPIPE ends


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; print a user's error with its fix."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # some terminals lack × and …
    signal.signal(signal.SIGTERM, _end)
    code = PIPE_CLOSED  # until the command has ended: 0 would say that a gate passed
    try:
        arguments = parser().parse_args(argv)
        code = int(arguments.run(arguments))
        sys.stdout.flush()
    except (KeyboardInterrupt, Cancelled):
        print("stopped; nothing was left running", file=sys.stderr)
        return INTERRUPTED
    except WorkbenchError as error:
        print("workbench:", printable(str(error), keep="\n\t"), file=sys.stderr)
        return OPEN if isinstance(error, RunFailed | WorkerError) else WRONG_USE
    except BrokenPipeError:  # the reader of the pipe has closed
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return code


def parser() -> argparse.ArgumentParser:
    """Return the parser of all commands."""
    top = CommandParser(
        prog="workbench", description="A tuning bench for ONNX Runtime: measure, compare, explain."
    )
    top.add_argument("--version", action="version", version=f"workbench {__version__}")
    commands = top.add_subparsers(metavar="COMMAND", required=True, parser_class=CommandParser)
    for module in COMMANDS:
        module.add_to(commands)
    return top


def _end(*_: object) -> None:
    """Unwind the stack on a signal, so that workers end and temporary files are removed."""
    sys.exit(TERMINATED)
