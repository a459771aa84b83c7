"""Job: fix symbolic dimensions of the file to sizes."""

from __future__ import annotations

from typing import Any

import onnx
from onnxruntime.tools.onnx_model_utils import fix_output_shapes, make_dim_param_fixed

from workbench.core.worker.preparing import files


def run(source: str, target: str, sizes: dict[str, int]) -> dict[str, Any]:
    model: onnx.ModelProto = onnx.load(source)
    del model.graph.value_info[:]  # value infos name the dimensions too, in expressions that cannot be fixed
    for name, size in sizes.items():
        make_dim_param_fixed(model.graph, name, size)
    fix_output_shapes(model)
    files.save(model, target)
    return files.answer(source, target, [])
