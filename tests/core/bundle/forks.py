"""Run something in a process of its own: to watch its files, to kill it, to limit it, to make it nobody's."""

from __future__ import annotations

import json
import os
import resource
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

from workbench.core.bundle import atomic, database, history

_WRITERS = {module.__file__ for module in (atomic, database, history)}  # all that touches files
_NOBODY = 65534


def call(action: Callable[[], Any]) -> Any:
    """What `action` returns, from a fork and as JSON has it; what it raises is printed and fails the test."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            data = json.dumps(action()).encode()
            with os.fdopen(writer, "wb") as pipe:
                pipe.write(data)
            status = 0
        finally:  # it must not return into pytest a second time
            if status:
                sys.excepthook(*sys.exc_info())  # type: ignore[arg-type]
            os._exit(status)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        data = pipe.read()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    return json.loads(data)


def call_unprivileged(action: Callable[[], Any]) -> Any:
    """As `call`, by a user to whom permissions apply: root is bound by none."""

    def drop() -> Any:
        if os.geteuid() == 0:
            os.setgroups([])
            os.setgid(_NOBODY)
            os.setuid(_NOBODY)
        return action()

    return call(drop)


def call_limited(action: Callable[[], Any], *, file_bytes: int) -> Any:
    """As `call`, on what for it is a disk with room for files of `file_bytes`."""

    def limit() -> Any:
        resource.setrlimit(resource.RLIMIT_FSIZE, (file_bytes, file_bytes))
        return action()

    return call(limit)


def call_in_memory(action: Callable[[], Any], *, more_bytes: int) -> Any:
    """As `call`, with `more_bytes` of memory beyond what is in use now."""

    def limit() -> Any:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        most = pages * resource.getpagesize() + more_bytes
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
        return action()

    return call(limit)


def states_at_lines(action: Callable[[], Any], folder: Path, copies: Path) -> list[Path]:
    """Return copies of `folder` as kill -9 leaves it at each line that `action` runs of the writing modules.

    The process that runs `action` waits at each line until its files are compared with those of the line
    before; each new state is copied once. A kill loses no written byte, and its locks are gone, as here.
    Lines of modules that only compute, such as the codec, leave the files as they were.
    """
    at_line, stopped = os.pipe()
    resumed, resume = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.close(at_line)
            os.close(resume)

            def trace(frame: FrameType, event: str, _argument: object) -> Any:
                if frame.f_code.co_filename not in _WRITERS:
                    return None
                if event == "line":
                    os.write(stopped, b".")
                    os.read(resumed, 1)
                return trace

            sys.settrace(trace)
            action()
            sys.settrace(None)
            status = 0
        finally:  # it must not return into pytest a second time
            if status:
                sys.excepthook(*sys.exc_info())  # type: ignore[arg-type]
            os._exit(status)
    os.close(stopped)
    os.close(resumed)
    states: list[Path] = []
    before: dict[str, bytes] = {}
    while os.read(at_line, 1):
        content = {path.name: path.read_bytes() for path in folder.iterdir()}
        if content != before or not states:
            states.append(Path(shutil.copytree(folder, copies / str(len(states)))))
            before = content
        os.write(resume, b".")
    os.close(at_line)
    os.close(resume)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    return states
