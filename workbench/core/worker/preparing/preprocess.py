"""Job: run ORT's own pre-processing: infer shapes, fold constants, remove Identity nodes after weights."""

from __future__ import annotations

from typing import Any

from workbench.core.worker.preparing import files
from workbench.core.worker.preparing.conversions import preprocess


def run(source: str, target: str) -> dict[str, Any]:
    named = files.named(source, target)
    problem = preprocess(named, target)
    files.forget(named, source)
    notes = [f"without symbolic shape inference, which failed: {problem}"] if problem else []
    return files.answer(source, target, notes)
