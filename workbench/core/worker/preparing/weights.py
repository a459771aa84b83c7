"""Job: quantize weights of matrix products to 4 or 8 bits, in blocks."""

from __future__ import annotations

from typing import Any

import onnx
from onnxruntime.quantization.matmul_nbits_quantizer import (
    DefaultWeightOnlyQuantConfig,
    MatMulNBitsQuantizer,
)

from workbench.core.worker.preparing import files


def run(
    source: str, target: str, bits: int, block: int, accuracy_level: int, symmetric: bool, exclude: list[str]
) -> dict[str, Any]:
    """Quantize by ORT's default algorithm: RTN fails on weights whose rows are no multiple of a block."""
    settings = DefaultWeightOnlyQuantConfig(
        block_size=block, is_symmetric=symmetric, accuracy_level=accuracy_level, bits=bits
    )
    kept = [*exclude, *(f"{name}_MatMul" for name in exclude)]
    quantizer = MatMulNBitsQuantizer(onnx.load(source), nodes_to_exclude=kept, algo_config=settings)
    quantizer.model.replace_gemm_with_matmul()  # an equivalent product that the quantizer does not accept
    quantizer.process()
    files.save(quantizer.model.model, target)
    return files.answer(source, target, [])
