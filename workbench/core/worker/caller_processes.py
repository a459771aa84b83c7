"""Callers that are processes: each a worker with a session of its own, led by the worker of a config."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from workbench.core.errors import RunFailed
from workbench.core.worker.protocol import Message, command, read_message, write_message

_HEAD_START_NS = 20_000_000  # from the command to the first request, so that all callers begin together


class CallerProcesses:
    """Workers that this worker started; they stand in its process group, so they freeze and end with it."""

    def __init__(self, count: int, model: str, plan: dict[str, Any], feeds: str) -> None:
        start = command(sys.executable, "child")
        self._processes = [
            subprocess.Popen(start, stdin=subprocess.PIPE, stdout=subprocess.PIPE) for _ in range(count)
        ]
        for process in self._processes:
            _answer_of(process)  # hello
        self._ask(self._processes, "load", model=model, plan=plan)
        self._ask(self._processes, "first_run", feeds=feeds)
        self._ask(self._processes, "callers", sessions=1, callers=1)

    def serve(self, count: int, seconds: float, most: int) -> tuple[dict[str, Any], bytes]:
        """Let the first callers send requests back to back, all from the same moment on."""
        chosen = self._processes[:count]
        begin_ns = time.perf_counter_ns() + _HEAD_START_NS
        body = {"callers": 1, "seconds": seconds, "rate_hz": None, "seed": 0, "most": max(1, most // count)}
        answers = self._ask(chosen, "serve", **body, begin_ns=begin_ns)
        bodies = [answer.body for answer in answers]
        whole = {
            "wall_ns": max(part["wall_ns"] for part in bodies),
            "cpu_ns": sum(part["cpu_ns"] for part in bodies),
            "caller_spans_ns": [span for part in bodies for span in part["caller_spans_ns"]],
            "requests": sum(part["requests"] for part in bodies),
            "caller_counts": [number for part in bodies for number in part["caller_counts"]],
        }
        return whole, b"".join(answer.payload for answer in answers)

    def rss_bytes(self) -> int | None:
        """Return the memory of all callers; None where the system does not report it."""
        sizes = [answer.body["rss_bytes"] for answer in self._ask(self._processes, "usage")]
        return None if None in sizes else sum(sizes)

    def _ask(self, processes: Sequence[subprocess.Popen[bytes]], kind: str, **body: Any) -> list[Message]:
        """Send a command to all, then wait for all answers."""
        for process in processes:
            with suppress(OSError):  # it ended: reading its answer says so
                write_message(process.stdin, Message(kind, body))  # type: ignore[arg-type]
        return [_answer_of(process) for process in processes]


def _answer_of(process: subprocess.Popen[bytes]) -> Message:
    answer = read_message(process.stdout)  # type: ignore[arg-type]
    if answer is None or answer.kind == "failed":
        problem = "ended" if answer is None else answer.body["message"]
        raise RunFailed(
            f"the process of a caller failed: {problem}",
            "give fewer callers: each process has a session and the model's weights of its own",
        )
    return answer
