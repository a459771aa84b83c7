"""Job: apply rewrites of the model file that keep its results, in the order given."""

from __future__ import annotations

from typing import Any

import onnx

from workbench.core.rewrites.catalogue import BY_NAME
from workbench.core.worker.preparing import files
from workbench.core.worker.preparing.conversions import save


def run(source: str, target: str, names: list[str]) -> dict[str, Any]:
    """Apply the rewrites; answer how often each rewrite applied."""
    model = onnx.load(source)
    applied = {name: BY_NAME[name].load()(model) for name in names}
    save(model, target)
    del model
    _check(source, target)
    return files.answer(source, target, [], applied=applied)


def _check(source: str, target: str) -> None:
    """Refuse an invalid ONNX file made of a valid source."""
    try:
        onnx.checker.check_model(source)
    except (onnx.checker.ValidationError, ValueError, RuntimeError):
        return
    onnx.checker.check_model(target)
