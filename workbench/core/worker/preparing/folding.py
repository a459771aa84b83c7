"""Job: fold constants and remove no-ops by ORT's basic level, without changing matrix products."""

from __future__ import annotations

from typing import Any

from workbench.core.worker.preparing import files
from workbench.core.worker.session import make_session

KEPT = ("MatMulAddFusion", "MatMul_BatchNormalization_Fusion")  # these passes make Gemm of MatMul


def run(source: str, target: str) -> dict[str, Any]:
    named = files.named(source, target)
    plan: dict[str, Any] = {
        "attributes": {"graph_optimization_level": "GraphOptimizationLevel.ORT_ENABLE_BASIC"},
        "entries": files.saved_outside(source),
        "free_dimensions": {},
        "disabled_optimizers": list(KEPT),
        "providers": [["CPUExecutionProvider", {}]],
        "preload_libraries": False,
    }
    make_session(named, plan, optimized_model_filepath=target)
    files.forget(named, source)
    return files.answer(source, target, [])
