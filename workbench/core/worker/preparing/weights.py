"""Job: quantize weights of matrix products to 4 or 8 bits, in blocks."""

from __future__ import annotations

from typing import Any

from workbench.core.worker.preparing import files
from workbench.core.worker.preparing.conversions import quantize_weights


def run(source: str, target: str, **settings: Any) -> dict[str, Any]:
    quantize_weights(source, target, **settings)
    return files.answer(source, target, [])
