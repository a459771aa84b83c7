"""A program in a process of its own, without what only this process finds."""

from __future__ import annotations

import os
import subprocess
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from workbench.core.background import check_cancel

_POLL_S = 0.1


def run_program(
    command: Sequence[str],
    *,
    most_s: float,
    cancel: threading.Event | None = None,
    folder: Path | None = None,
) -> tuple[int | None, str]:
    """Run a program; return its exit code, None where it was stopped after `most_s`, and what it printed."""
    alone = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    with tempfile.TemporaryFile() as output:  # a pipe that nobody reads meanwhile would fill
        process = subprocess.Popen(command, cwd=folder, stdout=output, stderr=subprocess.STDOUT, env=alone)
        try:
            ends = time.monotonic() + most_s
            while process.poll() is None and time.monotonic() < ends:
                check_cancel(cancel)
                time.sleep(_POLL_S)
            code = process.poll()
        finally:
            process.kill()
            process.wait()
        output.seek(0)
        return code, output.read().decode("utf-8", "replace")
