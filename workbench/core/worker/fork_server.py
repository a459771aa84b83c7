"""The process that forks workers: onnxruntime is imported once, and a fork takes a few milliseconds.

`forking` runs this module; the kernel never imports it. A fork is safe only from a process of one thread, so
a server whose imports start threads (some providers do) says so, and workers are started one by one.
"""

from __future__ import annotations

import gc
import json
import os
import socket
import sys
from typing import Any

from workbench.core.worker import child
from workbench.core.worker.usage import thread_count

MAX_MESSAGE_BYTES = 1 << 16
_FILES = 3  # stdin, stdout and stderr of a worker


def main() -> None:
    """Fork workers on request until the parent ends; `argv[2]` is the parent's process id."""
    child.die_with(int(sys.argv[2]))
    channel = socket.socket(fileno=os.dup(0))
    started = child.imported(child.ort_versions)
    gc.freeze()  # a collection in a worker would copy every page that the server shares with it
    _send(channel, {"can_fork": thread_count() == 1})
    while True:
        text, files, _, _ = socket.recv_fds(channel, MAX_MESSAGE_BYTES, _FILES)
        if not text:
            os._exit(0)
        if json.loads(text)["kind"] == "fork":
            _send(channel, {"pid": _fork(channel, files, started)})
        else:
            _, status = os.waitpid(json.loads(text)["pid"], 0)
            _send(channel, {"code": os.waitstatus_to_exitcode(status)})


def _fork(channel: socket.socket, files: list[int], started: dict[str, Any]) -> int:
    """Return the process id of a new worker in a group of its own, which reads and writes these files."""
    server = os.getpid()
    pid = os.fork()
    if pid == 0:
        try:
            _become_worker(server, channel, files, started)
        finally:
            os._exit(1)
    for file in files:
        os.close(file)
    return pid


def _become_worker(server: int, channel: socket.socket, files: list[int], started: dict[str, Any]) -> None:
    import onnxruntime as ort

    os.setpgid(0, 0)
    channel.close()
    for standard, file in enumerate(files):
        os.dup2(file, standard)
        os.close(file)
    child.die_with(server)
    # Random operators differ from process to process.
    ort.set_seed(int.from_bytes(os.urandom(4), "little") >> 1)
    child.serve(started)


def _send(channel: socket.socket, body: dict[str, Any]) -> None:
    try:
        channel.send(json.dumps(body).encode())
    except OSError:  # the kernel is gone
        os._exit(0)
