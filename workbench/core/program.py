"""A program in a process of its own, without what only this process finds."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

from workbench.core.background import check_cancel

_POLL_S = 0.1


def run_program(
    command: Sequence[str],
    output: BinaryIO,
    *,
    most_s: float,
    cancel: threading.Event | None = None,
    folder: Path | None = None,
) -> int | None:
    """Run a program to its end; return its exit code, or None where it was stopped after `most_s`.

    What it prints goes to `output`, a real file.
    """
    alone = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    process = subprocess.Popen(command, cwd=folder, stdout=output, stderr=subprocess.STDOUT, env=alone)
    try:
        ends = time.monotonic() + most_s
        while process.poll() is None:
            check_cancel(cancel)
            if time.monotonic() > ends:
                return None
            time.sleep(_POLL_S)
        return process.returncode
    finally:
        process.kill()
        process.wait()
