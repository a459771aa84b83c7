"""Shape arithmetic worked out ahead: exporters compute shapes in the graph, where inference loses them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

MOST_ELEMENTS = 4096  # shapes, masks' axes, positions; never activations
_NEVER = frozenset({"If", "Loop", "Scan", "RandomNormal", "RandomUniform", "Multinomial", "Bernoulli"})

Arrays = dict[str, npt.NDArray[Any]]


def fold(model: Any, shapes: dict[str, tuple[int, ...]], known: Arrays) -> int:
    """Replace nodes of the main graph whose outputs are already certain by initializers; how many."""
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
        found = ReferenceEvaluator(single).run(None, {name: known[name] for name in names})
    except Exception:  # noqa: BLE001 - the reference evaluator raises whatever numpy does; then nothing is folded
        return None
    values = [np.asarray(value) for value in found]
    return (
        values
        if all(value.size <= MOST_ELEMENTS and value.dtype.kind in "biuf" for value in values)
        else None
    )


def _large(node: Any, known: Arrays) -> bool:
    """Whether the outcome would not be small: asked before it is made."""
    if node.op_type == "Range":
        start, limit, delta = (float(known[name]) for name in node.input)
        return delta == 0 or abs((limit - start) / delta) > MOST_ELEMENTS
    target = known[node.input[-1]]
    sizes = target.astype(float)
    times = known[node.input[0]].size if node.op_type == "Tile" else 1
    return bool(np.prod(sizes) * times > MOST_ELEMENTS)


def _small_constants(graph: Any) -> Arrays:
    import onnx

    found: Arrays = {}
    for tensor in graph.initializer:
        if int(np.prod(tensor.dims)) <= MOST_ELEMENTS and tensor.data_location != onnx.TensorProto.EXTERNAL:
            try:
                found[tensor.name] = onnx.numpy_helper.to_array(tensor)
            except (ValueError, TypeError):  # its payload was left out of the structure
                continue
    return found
