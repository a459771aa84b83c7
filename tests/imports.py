"""What a script imports, read without running it."""

from __future__ import annotations

import ast
from pathlib import Path


def imported_packages(script: Path) -> set[str]:
    """Return the first part of each name that the script imports, wherever in it."""
    names: list[str] = []
    for node in ast.walk(ast.parse(script.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names.append(node.module or "")
    return {name.partition(".")[0] for name in names}
