"""Job: quantize weights of matrix products to 2, 4 or 8 bits, in blocks."""

from __future__ import annotations

from typing import Any

from workbench.core.errors import RunFailed
from workbench.core.worker.preparing import files
from workbench.core.worker.preparing.conversions import quantize_weights


def run(source: str, target: str, algorithm: str, **settings: Any) -> dict[str, Any]:
    try:
        quantize_weights(source, target, algorithm=algorithm, **settings)
    except ModuleNotFoundError as error:
        raise RunFailed(
            f"{algorithm} needs {error.name}, which is not installed in this environment",
            "install it, or use another algorithm of wb.WeightOnly",
        ) from error
    return files.answer(source, target, [])
