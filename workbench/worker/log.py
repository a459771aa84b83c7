"""What ORT and its libraries printed, read back as lines. Bounded: a worker may print megabytes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from workbench.text import printable

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_ORT_LINE = re.compile(
    r"^(?:\S+ \S+ )?\[(?P<severity>[VIWEF]):[^\]]*?\] ?(?P<message>.*)$"
)  # 2026-11-21 07:43:50.12 [W:onnxruntime:Default, file.cc:12 Function] text
HEAD_BYTES = 256 << 10
TAIL_BYTES = 768 << 10
MAX_LINE = 2_000


class LoggedLine(NamedTuple):
    """Severity V, I, W, E or F, or "" for text in another format."""

    severity: str
    message: str


def read_bounded(path: Path) -> str:
    """The log in printable lines, without its middle when it is long: names of a model may stand in it."""
    with path.open("rb") as file:
        size = file.seek(0, 2)
        file.seek(0)
        if size <= HEAD_BYTES + TAIL_BYTES:
            raw = file.read()
        else:
            head = file.read(HEAD_BYTES)
            file.seek(size - TAIL_BYTES)
            cut = size - HEAD_BYTES - TAIL_BYTES
            raw = head + f"\n… {cut} bytes left out …\n".encode() + file.read()
    text = _COLOUR.sub("", raw.decode("utf-8", "replace"))
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return "\n".join(printable(line, keep="\t") for line in lines)


def parse(text: str) -> list[LoggedLine]:
    """Each line with ORT's severity where it has one; the place in ORT's source is dropped."""
    lines = []
    for line in text.splitlines():
        if not line.strip():
            continue
        match = _ORT_LINE.match(line)
        if match:
            lines.append(LoggedLine(match["severity"], match["message"][:MAX_LINE]))
        else:
            lines.append(LoggedLine("", line[:MAX_LINE]))
    return lines


def tail(text: str, lines: int = 20) -> str:
    """The last lines, for an error message."""
    return "\n".join(line[:MAX_LINE] for line in text.splitlines()[-lines:])
