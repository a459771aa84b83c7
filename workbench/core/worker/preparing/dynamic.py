"""Job: quantize weights to 8-bit integers, and activations at run time."""

from __future__ import annotations

from typing import Any

import onnx

from workbench.core.worker.preparing import files, retries
from workbench.core.worker.preparing.conversions import quantize_at_run_time


def run(source: str, target: str, **settings: Any) -> dict[str, Any]:
    quantize_at_run_time(source, target, **settings)
    bodies = retries.in_bodies(onnx.load(source, load_external_data=False))
    return files.answer(source, target, [], bodies=bodies)
