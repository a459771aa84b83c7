"""Run a script in a process of its own and catch its sessions; that process is `python -m` of this module."""

from __future__ import annotations

import json
import os
import runpy
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from workbench.core.errors import InputError, RunFailed
from workbench.core.stored_files import expanded
from workbench.core.text import path_text
from workbench.core.worker.folder import WorkerFolder
from workbench.features.caught.catching import catching
from workbench.features.caught.record import CaughtSession, caught_sessions


def run_script(script: str | os.PathLike[str], arguments: Sequence[str] = ()) -> tuple[CaughtSession, ...]:
    """Run the script to its end, with what it prints on standard error, and return its sessions."""
    path = expanded(script)
    if not path.is_file():
        raise InputError(f"{path_text(path)} is no file", "give the path of a Python script")
    with WorkerFolder() as folder:
        answer = folder / "sessions.json"
        command = [sys.executable, "-m", __name__, str(answer), str(path), *arguments]
        code = subprocess.run(command, stdout=2, check=False).returncode
        if code:
            raise RunFailed(
                f"{path_text(path)} ended with exit code {code}",
                "see what it printed above: it must run by itself in the workbench's environment",
            )
        return tuple(map(CaughtSession.from_json, json.loads(answer.read_text("utf-8"))))


def main(answer: str, script: str, *arguments: str) -> None:
    """Run the script as a program, then write what was caught."""
    own_path, sys.argv = list(sys.path), [script, *arguments]
    sys.path[0] = str(Path(script).absolute().parent)
    with catching() as catcher:
        try:
            runpy.run_path(script, run_name="__main__")
        except SystemExit as end:
            if end.code:
                raise
        finally:
            sys.path[:] = own_path
    Path(answer).write_text(json.dumps([session.to_json() for session in caught_sessions(catcher)]), "utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
