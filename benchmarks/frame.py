"""What the benchmarks share: tables in Markdown, rows in a JSON-lines file, the load of the machine."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any


def table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table in Markdown."""
    lines = [f"| {' | '.join(map(str, cells))} |" for cells in (heads, *rows)]
    return "\n".join([lines[0], "|---" * len(heads) + "|", *lines[1:]])


def rows_of(path: Path) -> list[dict[str, Any]]:
    """Return the rows of earlier calls."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []


def keep(row: Mapping[str, Any], path: Path) -> None:
    """Add a row to a file of rows at once, so that a call that is stopped loses none."""
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")


def moment() -> dict[str, Any]:
    """Return the load of the machine and the date, for a row."""
    return {"load": os.getloadavg()[0], "date": datetime.now(UTC).date().isoformat()}


def loads(rows: Iterable[Mapping[str, Any]]) -> str:
    """Return the least and the highest load of the machine in these rows."""
    seen = [row["load"] for row in rows]
    return f"{min(seen):.1f} to {max(seen):.1f}"


def interval(low: float | None, high: float | None) -> str:
    """Return an interval behind its value; nothing where none of its ends is known."""
    if low is None and high is None:
        return ""
    return f" ({' to '.join('?' if end is None else format(end, '.2f') for end in (low, high))})"
