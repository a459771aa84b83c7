"""Job: fix symbolic dimensions of the file to sizes."""

from __future__ import annotations

from typing import Any

from workbench.core.worker.preparing import files
from workbench.core.worker.preparing.conversions import fix_dimensions


def run(source: str, target: str, sizes: dict[str, int]) -> dict[str, Any]:
    fix_dimensions(source, target, sizes)
    return files.answer(source, target, [])
