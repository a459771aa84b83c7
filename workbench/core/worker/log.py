"""The log of ORT and its libraries as lines, bounded, since a worker may print megabytes."""

from __future__ import annotations

import re
from pathlib import Path

from workbench.core.bundle.run import LogLine
from workbench.core.text import printable, without_colors

_ORT_LINE = re.compile(
    r"^(?:\S+ \S+ )?\[(?P<severity>[VIWEF]):[^\]]*?\] ?(?P<message>.*)$"
)  # 2026-11-21 07:43:50.12 [W:onnxruntime:Default, file.cc:12 Function] text
_HEAD_BYTES = 256 << 10
TAIL_BYTES = 768 << 10
MAX_LINE = 2_000


def read_bounded(path: Path) -> str:
    """Return the log in printable lines (a model's names may be in it), without the middle of a long one."""
    with path.open("rb") as file:
        size = file.seek(0, 2)
        file.seek(0)
        if size <= _HEAD_BYTES + TAIL_BYTES:
            raw = file.read()
        else:
            head = file.read(_HEAD_BYTES)
            file.seek(size - TAIL_BYTES)
            cut = size - _HEAD_BYTES - TAIL_BYTES
            raw = head + f"\n… {cut} bytes left out …\n".encode() + file.read()
    text = without_colors(raw.decode("utf-8", "replace"))
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return "\n".join(printable(line, keep="\t") for line in lines)


def parse(text: str) -> list[LogLine]:
    """Return the lines with ORT's severity, if any, and without the place in ORT's source."""
    lines = []
    for line in text.splitlines():
        if not line.strip():
            continue
        match = _ORT_LINE.match(line)
        severity, message = (match["severity"], match["message"]) if match else ("", line)
        lines.append(LogLine(severity, message[:MAX_LINE]))
    return lines


def tail(text: str, lines: int = 20) -> str:
    """Return the last lines, for an error message."""
    return "\n".join(line[:MAX_LINE] for line in text.splitlines()[-lines:])
