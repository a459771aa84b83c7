"""Job: run ORT's transformer optimizer without its own call of ORT, which needs torch."""

from __future__ import annotations

from typing import Any

from onnxruntime.transformers.fusion_options import FusionOptions
from onnxruntime.transformers.optimizer import optimize_model

from workbench.core.worker.preparing import files


def run(
    source: str, target: str, model_type: str, num_heads: int, hidden_size: int, options: dict[str, bool]
) -> dict[str, Any]:
    settings = FusionOptions(model_type)
    for name, on in options.items():
        setattr(settings, name, on)
    model = optimize_model(
        source,
        model_type=model_type,
        num_heads=num_heads,
        hidden_size=hidden_size,
        optimization_options=settings,
        opt_level=0,
    )
    files.save(model.model, target)
    fused = {name: int(count) for name, count in model.get_fused_operator_statistics().items()}
    return files.answer(source, target, [], fused=fused)
