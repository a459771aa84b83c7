"""Shapes by ONNX's inference with the exporters' shape arithmetic folded, to check the formulas."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from workbench.core.models.graph_walk import GraphWalk
from workbench.features.profile.flops.shapes import Operand, known_shapes

MOST_PASSES = 12  # every pass takes shapes through another Reshape with a computed shape
MOST_ELEMENTS = 4096  # shapes, masks' axes, positions; never activations
_NEVER = frozenset({"If", "Loop", "Scan", "RandomNormal", "RandomUniform", "Multinomial", "Bernoulli"})

Arrays = dict[str, npt.NDArray[Any]]


def inferred_shapes(model: Any, dims: Mapping[str, int]) -> dict[str, Operand]:
    """By ONNX's own inference, with symbolic dims set; what it cannot infer is left out."""
    import onnx

    fixed = onnx.ModelProto()
    fixed.CopyFrom(model)
    fixed.ir_version = max(fixed.ir_version, 4)  # before, inference overlooks an initializer that is no input
    for value in fixed.graph.input:
        for dim in value.type.tensor_type.shape.dim:
            if dim.dim_param in dims:
                dim.dim_value = dims[dim.dim_param]
    del fixed.graph.value_info[:]
    for value in fixed.graph.output:
        for dim in value.type.tensor_type.shape.dim:
            dim.ClearField("dim_param")  # inference fills it in
    known: Arrays = {}
    for _ in range(MOST_PASSES):
        inferred = onnx.shape_inference.infer_shapes(fixed, data_prop=True)
        walk = GraphWalk(inferred.graph)
        shapes = known_shapes(walk.infos | walk.constants)
        if not fold(
            fixed, {name: tensor.dims for name, tensor in shapes.items() if tensor.dims is not None}, known
        ):
            break
    return shapes


def fold(model: Any, shapes: dict[str, tuple[int, ...]], known: Arrays) -> int:
    """Replace nodes of the main graph with constant outputs by initializers, and return their number."""
    import onnx

    graph = model.graph
    if not known:
        known.update(_small_constants(graph))
    kept, folded = [], 0
    for node in graph.node:
        values = _evaluated(model, node, shapes, known)
        if values is None:
            kept.append(node)
            continue
        folded += 1
        for name, value in zip(node.output, values, strict=True):
            known[name] = value
            graph.initializer.append(onnx.numpy_helper.from_array(value, name))
    del graph.node[:]
    graph.node.extend(kept)
    return folded


def _evaluated(
    model: Any, node: Any, shapes: dict[str, tuple[int, ...]], known: Arrays
) -> list[npt.NDArray[Any]] | None:
    import onnx
    from onnx.reference import ReferenceEvaluator

    if node.domain not in ("", "ai.onnx") or node.op_type in _NEVER or not all(node.output):
        return None
    if node.op_type == "Shape" and node.input[0] in shapes and not node.attribute:
        return [np.array(shapes[node.input[0]], np.int64)]
    names = [name for name in node.input if name]
    if not all(name in known for name in names):
        return None
    if node.op_type in ("ConstantOfShape", "Expand", "Range", "Tile") and _large(node, known):
        return None
    graph = onnx.helper.make_graph(
        [node],
        "one",
        [
            onnx.helper.make_tensor_value_info(n, onnx.helper.np_dtype_to_tensor_dtype(known[n].dtype), None)
            for n in set(names)
        ],
        [onnx.helper.make_empty_tensor_value_info(name) for name in node.output],
    )
    try:
        single = onnx.helper.make_model(graph, opset_imports=model.opset_import)
        outputs = ReferenceEvaluator(single).run(None, {name: known[name] for name in names})
    except Exception:  # noqa: BLE001 - the reference evaluator raises whatever numpy does; then nothing is folded
        return None
    values = [np.asarray(value) for value in outputs]
    return (
        values
        if all(value.size <= MOST_ELEMENTS and value.dtype.kind in "biuf" for value in values)
        else None
    )


def _large(node: Any, known: Arrays) -> bool:
    """Return whether the output would be large, before it is computed."""
    if node.op_type == "Range":
        start, limit, delta = (float(known[name]) for name in node.input)
        return delta == 0 or abs((limit - start) / delta) > MOST_ELEMENTS
    target = known[node.input[-1]]
    sizes = target.astype(float)
    times = known[node.input[0]].size if node.op_type == "Tile" else 1
    return bool(np.prod(sizes) * times > MOST_ELEMENTS)


def _small_constants(graph: Any) -> Arrays:
    import onnx

    constants: Arrays = {}
    for tensor in graph.initializer:
        if int(np.prod(tensor.dims)) <= MOST_ELEMENTS and tensor.data_location != onnx.TensorProto.EXTERNAL:
            try:
                constants[tensor.name] = onnx.numpy_helper.to_array(tensor)
            except (ValueError, TypeError):  # its payload was left out of the structure
                continue
    return constants
