"""A trace file as batches of decoded events, in bounded memory, as far as it can be read.

ORT writes one event a line, so a chunk is cut at its last line that ends an event and decoded whole. A file
in another form (pretty-printed, `{"traceEvents": […]}`, damaged in the middle) is cut by braces.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from workbench.core.errors import ProfileError
from workbench.core.stored_files import check_regular

_CHUNK_BYTES = 1 << 18  # what fits the second-level cache when decoded: larger chunks decode slower
MAX_EVENT_BYTES = 64 << 20
_EVENT_END = b"},\n"
_TOKEN = re.compile(rb'"(?:[^"\\]++|\\.)*+("?)|[{}\[\]]', re.DOTALL)
_WRAPPER = re.compile(rb'"traceEvents"\s*:\s*\[')
_WRAPPER_WITHIN = 1 << 16
_WHAT_IT_IS = "a trace is the .json file that session.end_profiling() names"


@dataclass(slots=True)
class ReadDamage:
    """Damage met while reading, filled in while batches are drawn."""

    ended: bool = False  # the closing bracket was seen
    damaged: int = 0  # events that are no JSON objects
    lost_bytes: int = 0  # of an unfinished last event
    stopped: list[str] = field(default_factory=list)


def batches(path: Path, reading: ReadDamage) -> Iterator[list[Any]]:
    """Yield lists of decoded events in file order; raise ProfileError when the file is no trace at all."""
    try:
        check_regular(path)
        with path.open("rb") as file:
            yield from _Cutter(file, path, reading).batches()
    except OSError as error:
        raise ProfileError(f"{path} cannot be read: {error}", f"check the path; {_WHAT_IT_IS}") from error


@dataclass(frozen=True, slots=True)
class _Cutter:
    _file: BinaryIO
    _path: Path
    _reading: ReadDamage

    def batches(self) -> Iterator[list[Any]]:
        rest, wrapped = self._opening()
        while not wrapped and (chunk := self._file.read(_CHUNK_BYTES)):
            rest += chunk
            cut = rest.rfind(_EVENT_END)
            if cut < 0 and len(rest) <= 4 * _CHUNK_BYTES:
                continue
            events = None if cut < 0 else _decoded(rest[: cut + 1])
            if events is None:
                break
            yield events
            rest = rest[cut + len(_EVENT_END) :]
        yield from self._by_braces(rest)

    def _opening(self) -> tuple[bytes, bool]:
        """Return what follows the opening bracket, and whether an object is wrapped around the events."""
        head = self._file.read(_WRAPPER_WITHIN).removeprefix(b"\xef\xbb\xbf").lstrip()
        if head.startswith(b"["):
            return head[1:], False
        wrapper = _WRAPPER.search(head) if head.startswith(b"{") else None
        if wrapper is None:
            fault = "is empty" if not head else f"begins with {head[:24]!r}, which is no list of events"
            raise ProfileError(f"{self._path} {fault}", f"give a trace of ONNX Runtime: {_WHAT_IT_IS}")
        return head[wrapper.end() :], True

    def _by_braces(self, buffer: bytes) -> Iterator[list[Any]]:
        """Yield events one by one, until the closing bracket or the end of the file."""
        depth, start, position = 0, 0, 0
        while True:
            events: list[Any] = []
            for token in _TOKEN.finditer(buffer, position):
                first = buffer[token.start()]
                if first == 0x22:  # a quote
                    if not token.group(1):
                        break  # the string goes on in the next chunk
                elif first in b"{[":
                    if depth == 0:
                        start = token.start()
                    depth += 1
                elif depth == 0:
                    self._reading.ended = True
                    yield events
                    return
                else:
                    depth -= 1
                    if depth == 0:
                        self._add(events, buffer[start : token.end()])
                position = token.end()
            yield events
            keep = start if depth else position
            buffer, position, start = buffer[keep:], position - keep, 0
            if len(buffer) > MAX_EVENT_BYTES:
                self._reading.stopped.append(f"an event is larger than {MAX_EVENT_BYTES >> 20} MiB")
                return
            chunk = self._file.read(max(_CHUNK_BYTES, len(buffer)))
            if not chunk:
                self._reading.lost_bytes = len(buffer.strip())
                return
            buffer += chunk

    def _add(self, events: list[Any], text: bytes) -> None:
        decoded = _decoded(text) or _decoded(text.decode("utf-8", "replace").encode())
        if decoded:
            events += decoded
        else:
            self._reading.damaged += 1


def _decoded(text: bytes) -> list[Any] | None:
    try:
        events: list[Any] = orjson.loads(b"[%b]" % text)
    except orjson.JSONDecodeError:
        return None
    return events
